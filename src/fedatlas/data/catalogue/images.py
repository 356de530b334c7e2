"""Sets of images."""

from fedatlas.data.sources import File, Form, Source, register

_MNIST = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
_FASHION = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
)
_UNSTATED = "none stated by the source"


def _mnist(name: str, addresses: tuple[str, ...], files: tuple[tuple[str, int, str, str], ...], **entry) -> Source:
    """A set in the four files of MNIST; `files` are (name, bytes, md5, sha256 of the contents)."""
    published = tuple(
        File(file, tuple(address + file for address in addresses), size, f"md5:{md5}", f"sha256:{content}")
        for file, size, md5, content in files
    )
    shape = {"classes": 10, "rows": 60_000, "test_rows": 10_000, "shape": (1, 28, 28), "scale": 255.0}
    return register(Source(name, group=name, forms=(Form("idx", published),), **shape, **entry))


_mnist(
    "mnist",
    _MNIST,
    (
        (
            "train-images-idx3-ubyte.gz",
            9_912_422,
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        (
            "train-labels-idx1-ubyte.gz",
            28_881,
            "d53e105ee54ea40749a09fcbcd1e9432",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
        (
            "t10k-images-idx3-ubyte.gz",
            1_648_877,
            "9fb629c4189551a2d022fa330f9573f3",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        (
            "t10k-labels-idx1-ubyte.gz",
            4_542,
            "ec29112dd5afa0611ce80d1b7f02629c",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ),
    title="Handwritten digits, 28 x 28 grey",
    page="http://yann.lecun.com/exdb/mnist/",
    licence="CC BY-SA 3.0",
    citation="lecun1998gradient",
    counts=(5_923, 6_742, 5_958, 6_131, 5_842, 5_421, 5_918, 6_265, 5_851, 5_949),
)
_mnist(
    "fashion-mnist",
    _FASHION,
    (
        (
            "train-images-idx3-ubyte.gz",
            26_421_880,
            "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        ),
        (
            "train-labels-idx1-ubyte.gz",
            29_515,
            "25c81989df183df01b3e8a0aad5dffbe",
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        ),
        (
            "t10k-images-idx3-ubyte.gz",
            4_422_102,
            "bef4ecab320f06d8554ea6380940ec79",
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        ),
        (
            "t10k-labels-idx1-ubyte.gz",
            5_148,
            "bb300cfdad3c16e7a12a480ee83cd310",
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        ),
    ),
    title="Articles of clothing, 28 x 28 grey",
    page="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    citation="xiao2017fashion",
    counts=(6_000,) * 10,
)
register(
    Source(
        "cifar10",
        title="Ten classes of photographs, 32 x 32 colour",
        group="cifar10",
        page="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence=_UNSTATED,
        citation="krizhevsky2009learning",
        forms=(
            Form(
                "cifar",
                (
                    File(
                        "cifar-10-python.tar.gz",
                        ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
                        170_498_071,
                        "md5:c58f30108f718f92721af3b95e74349a",
                    ),
                ),
                {
                    "train": tuple(f"cifar-10-batches-py/data_batch_{i}" for i in range(1, 6)),
                    "test": ("cifar-10-batches-py/test_batch",),
                    "labels": "labels",
                },
            ),
            Form(
                "jpeg",
                (File("cifar10_jpeg.npz"),),
                lossy="decoded from JPEG copies of the images (about 30 dB): accuracies differ from published ones; "
                "training images in the official order, test images grouped by class",
            ),
        ),
        classes=10,
        rows=50_000,
        test_rows=10_000,
        shape=(3, 32, 32),
        scale=255.0,
        counts=(5_000,) * 10,
    )
)
register(
    Source(
        "cifar100",
        title="A hundred classes of photographs, 32 x 32 colour",
        group="cifar100",
        page="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence=_UNSTATED,
        citation="krizhevsky2009learning",
        forms=(
            Form(
                "cifar",
                (
                    File(
                        "cifar-100-python.tar.gz",
                        ("https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",),
                        169_001_437,
                        "md5:eb9058c3a382ffc7106e4002c42a8d85",
                    ),
                ),
                {"train": ("cifar-100-python/train",), "test": ("cifar-100-python/test",), "labels": "fine_labels"},
            ),
        ),
        classes=100,
        rows=50_000,
        test_rows=10_000,
        shape=(3, 32, 32),
        scale=255.0,
        counts=(500,) * 100,
    )
)
register(
    Source(
        "svhn",
        title="Street view house numbers, cropped digits, 32 x 32 colour",
        group="svhn",
        page="http://ufldl.stanford.edu/housenumbers/",
        licence="non-commercial use only",
        citation="netzer2011reading",
        forms=(
            Form(
                "mat",
                (
                    File(
                        "train_32x32.mat",
                        ("http://ufldl.stanford.edu/housenumbers/train_32x32.mat",),
                        182_040_794,
                        "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
                    ),
                    File(
                        "test_32x32.mat",
                        ("http://ufldl.stanford.edu/housenumbers/test_32x32.mat",),
                        64_275_384,
                        "md5:eb5a983be6a315427106f1b164d9cef3",
                    ),
                ),
            ),
        ),
        classes=10,
        rows=73_257,
        test_rows=26_032,
        shape=(3, 32, 32),
        scale=255.0,
        note="The digit 0, published as label 10, is class 0; the 'extra' images are not used.",
    )
)
register(
    Source(
        "cinic10",
        title="CIFAR-10's classes from CIFAR-10 and downsampled ImageNet, 32 x 32 colour",
        group="cinic10",
        page="https://datashare.ed.ac.uk/handle/10283/3192",
        licence="CC BY 4.0",
        citation="darlow2018cinic",
        forms=(
            Form(
                "folders",
                (
                    File(
                        "CINIC-10.tar.gz",
                        (
                            "https://datashare.ed.ac.uk/bitstream/handle/10283/3192/CINIC-10.tar.gz",
                            "https://datashare.ed.ac.uk/server/api/core/bitstreams/"
                            "e8e186cc-2688-48f1-aa5a-3fda1a43f8b6/content",
                        ),
                        687_544_992,
                        "md5:6ee4d0c996905fe93221de577967a372",
                    ),
                ),
                {"train": r"train/(\w+)/[^/]+\.png", "test": r"test/(\w+)/[^/]+\.png", "formats": ("PNG",)},
            ),
        ),
        classes=10,
        rows=90_000,
        test_rows=90_000,
        shape=(3, 32, 32),
        scale=255.0,
        counts=(9_000,) * 10,
        note="The official training and test parts; the validation part is not used.",
    )
)
register(
    Source(
        "tiny-imagenet",
        title="Two hundred classes of ImageNet, 64 x 64 colour",
        group="tiny-imagenet",
        page="http://cs231n.stanford.edu/",
        licence="none stated by the source; ImageNet's terms allow non-commercial research",
        citation="le2015tiny",
        forms=(
            Form(
                "folders",
                (
                    File(
                        "tiny-imagenet-200.zip",
                        ("http://cs231n.stanford.edu/tiny-imagenet-200.zip",),
                        248_100_043,
                        "md5:90528d7ca1a48142e341f4ef8d21d0de",
                    ),
                ),
                {
                    "train": r"train/(n\d+)/images/[^/]+\.JPEG",
                    "test": r"val/images/([^/]+\.JPEG)",
                    "annotations": r"val/val_annotations\.txt",
                    "formats": ("JPEG",),
                },
            ),
        ),
        classes=200,
        rows=100_000,
        test_rows=10_000,
        shape=(3, 64, 64),
        scale=255.0,
        counts=(500,) * 200,
        note="The official validation part is the test part: the labels of the official test part are not public.",
    )
)
