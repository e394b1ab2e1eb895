"""A loss as one outside linsep would add it, in one file: the hinge with its corner made round."""

from typing import NamedTuple

import numpy as np


class HuberisedHinge(NamedTuple):
    """ℓ(z) = 0 where z ≥ 1, (1 − z)²/2h where 1 − h < z < 1, and 1 − z − h/2 below."""

    h: float

    kinked = False

    @property
    def steepest(self):
        return 1.0 / self.h

    def value(self, z):
        lack = np.maximum(0.0, 1.0 - z)
        bent = np.minimum(lack, self.h)
        return bent * (lack - 0.5 * bent) / self.h

    def slope(self, z):
        return -np.clip((1.0 - z) / self.h, 0.0, 1.0)

    def curvature(self, z):
        return np.where((z < 1.0) & (z > 1.0 - self.h), 1.0 / self.h, 0.0)

    def dual(self, a):
        return a - 0.5 * self.h * a * a

    def most(self):
        return 1.0
