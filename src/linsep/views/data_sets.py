"""Public data sets that pages, tests and benchmarks use: what they are and where they come from."""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path("data")
"""Where their folders are looked for, from the folder a command runs in."""

UCI = "https://archive.ics.uci.edu/dataset"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"


class DataSet(NamedTuple):
    """A data set: what it is, its files, their source, and a command, where {} is their folder."""

    what: str
    size: str
    files: tuple[str, ...]
    source: str
    note: str
    command: str


PUBLIC: dict[str, DataSet] = {
    "20news": DataSet(
        "messages of twenty newsgroups, as counts of words",
        "11,314 and 7,532 rows, 130,108 features, 20 classes",
        ("train_counts.npz", "train_y.npy", "test_counts.npz", "test_y.npy"),
        "http://qwone.com/~jason/20Newsgroups/",
        "20news-bydate; counts of scikit-learn's CountVectorizer by scipy.sparse.save_npz",
        "linsep fit {}/train_counts.npz --test {}/test_counts.npz",
    ),
    "a9a": DataSet(
        "the census of adult, every column cut into yes and no",
        "32,561 and 16,281 rows, 123 features, 2 classes",
        ("a9a.gz", "a9a.t.bz2"),
        f"{LIBSVM}/binary.html",
        "svmlight; features count from 1 in the first file, from 0 in the second",
        "linsep fit {}/a9a.gz --learner LinearSVC",
    ),
    "adult": DataSet(
        "a census: does somebody earn more than 50,000 dollars?",
        "32,561 and 16,281 rows, 14 columns, 2 classes",
        ("adult-train.csv.gz", "adult-test.csv.gz"),
        f"{UCI}/2/adult",
        "adult.data and adult.test, renamed; ? is missing; test labels end in a full stop",
        "linsep fit {}/adult-train.csv.gz",
    ),
    "covtype": DataSet(
        "patches of forest and the trees on them",
        "581,012 rows, 54 features, 7 classes",
        ("covtype.csv.gz",),
        f"{UCI}/31/covertype",
        "CSV; give covtype.data a header line, the last column named Cover_Type",
        'linsep certify {}/covtype.csv.gz --target "Cover_Type == 2"',
    ),
    "flights3m": DataSet(
        "flights of half a year: date, delay, distance, origin, destination",
        "3,000,000 rows, 5 columns",
        ("flights-3m.parquet",),
        "https://github.com/vega/vega-datasets",
        "Parquet; from the US Bureau of Transportation Statistics",
        'linsep fit {}/flights-3m.parquet --target "delay > 15" --scale mean',
    ),
    "ijcnn1": DataSet(
        "the challenge of a conference on neural networks, 2001",
        "49,990 and 91,701 rows, 22 features, 2 classes",
        ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2"),
        f"{LIBSVM}/binary.html",
        "svmlight; training and validation rows in one file",
        "linsep fit {}/ijcnn1.trn.bz2 --test {}/ijcnn1.tst.bz2",
    ),
    "imdb": DataSet(
        "reviews of films, praise or not, as counts of words",
        "25,000 and 25,000 rows, 74,851 features, 2 classes",
        ("train_counts.npz", "train_y.npy", "test_counts.npz", "test_y.npy"),
        "https://ai.stanford.edu/~amaas/data/sentiment/",
        "counts of scikit-learn's CountVectorizer by scipy.sparse.save_npz",
        "linsep fit {}/train_counts.npz --test {}/test_counts.npz",
    ),
    "kdd99": DataSet(
        "network connections, normal or an attack",
        "494,021 and 311,029 rows, 41 columns, 23 and 38 classes",
        ("kddcup.data_10_percent.gz", "corrected.gz"),
        "https://kdd.ics.uci.edu/databases/kddcup99/kddcup99.html",
        "CSV without header; labels end in a full stop",
        "linsep fit {}/kddcup.data_10_percent.gz --target \"41 == 'normal.'\"",
    ),
    "letter": DataSet(
        "printed letters as sixteen measures",
        "20,000 rows, 16 features, 26 classes",
        ("letter-recognition.data.gz",),
        f"{UCI}/59/letter+recognition",
        "separated by spaces, the letter last",
        "linsep fit {}/letter-recognition.data.gz",
    ),
    "mnist": DataSet(
        "handwritten digits of 28 by 28 pixels",
        "60,000 and 10,000 rows, 784 features, 10 classes",
        (
            "train-images-idx3-ubyte.gz",
            "train-labels-idx1-ubyte.gz",
            "t10k-images-idx3-ubyte.gz",
            "t10k-labels-idx1-ubyte.gz",
        ),
        "http://yann.lecun.com/exdb/mnist/",
        "IDX, packed or not",
        "linsep experiment mnist-01 --data {}",
    ),
    "mushrooms": DataSet(
        "mushrooms, edible or poisonous",
        "8,124 rows, 112 features, 2 classes",
        ("mushrooms.gz",),
        f"{LIBSVM}/binary.html",
        "svmlight; separable",
        "linsep certify {}/mushrooms.gz",
    ),
    "phishing": DataSet(
        "addresses of pages, honest or not",
        "11,055 rows, 68 features, 2 classes",
        ("phishing.gz",),
        f"{LIBSVM}/binary.html",
        "svmlight",
        "linsep fit {}/phishing.gz",
    ),
    "sms_spam": DataSet(
        "text messages, wanted or not",
        "5,574 messages, 2 classes",
        ("SMSSpamCollection",),
        f"{UCI}/228/sms+spam+collection",
        "one message for each line, after its label and a tab",
        "linsep check {}/SMSSpamCollection",
    ),
    "spambase": DataSet(
        "mail, wanted or not, as shares of words",
        "4,601 rows, 57 features, 2 classes",
        ("spambase.csv.gz",),
        f"{UCI}/94/spambase",
        "CSV; spambase.data, with a header line or without",
        "linsep fit {}/spambase.csv.gz --scale mean",
    ),
    "usps": DataSet(
        "handwritten digits of 16 by 16 pixels",
        "7,291 rows, 256 features, 10 classes",
        ("usps_train.npz",),
        f"{LIBSVM}/multiclass.html",
        "NPZ; arrays X of the rows and y of the labels",
        "linsep fit {}/usps_train.npz",
    ),
    "winequality": DataSet(
        "white wines and what testers thought of them",
        "4,898 rows, 11 features, quality 3 to 9",
        ("winequality-white.csv.gz",),
        f"{UCI}/186/wine+quality",
        "CSV with semicolons and a header",
        "linsep fit {}/winequality-white.csv.gz --learner LinearRegression",
    ),
}
