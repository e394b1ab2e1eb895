"""Features made from features, as scikit-learn transformers.

What a hyperplane cannot see in rows as they are, it may see in their products (`pairs`), their
distances from points (`radial`) or their edges (`hog`, `channels`); `kesler` writes several classes
as one question of two. `naming` names the new columns.
"""
