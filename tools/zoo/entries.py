"""The modules of the zoo: where each comes from, and how it is made and called.

Public models of many styles; their code is fetched, never copied. Sizes are those of
the source unless the arguments make a small one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tools.zoo.sources import Package, Repository, Source

FLAX = "18f8f311c275d57f46d95e41b15aa97b454754c0"
BONSAI = "36284254cf738d99c1c5d1e3a292d27656a0a365"

IMAGE = "float32[1,224,224,3]"


@dataclass(frozen=True, slots=True)
class Entry:
    """One module.

    Attributes:
        name: How the table and the command call it.
        source: Where it comes from.
        spec: ``package.module:Name`` below the source's root.
        kwargs: Constructor arguments as JSON says them.
        inputs: Inputs of ``init`` and of the call.
        statics: (name, JSON) of static arguments.
        seeds: (stream, seed) of ``init`` and of the call.
        method: Method; empty for ``__call__``.
        runs: Whether it is run; others are loaded alone, for their size.
    """

    name: str
    source: Source
    spec: str
    kwargs: dict[str, object] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    statics: tuple[tuple[str, str], ...] = ()
    seeds: tuple[tuple[str, int], ...] = ()
    method: str = ""
    runs: bool = True


EVAL = (("train", "false"),)


def _flax(example: str, *stubs: str, file: str = "models.py") -> Repository:
    place = f"examples/{example}/{file}"
    return Repository("google/flax", FLAX, (place,), stubs=stubs, strip=1)


def _bonsai(model: str) -> Repository:
    return Repository("jax-ml/bonsai", BONSAI, (f"bonsai/models/{model}/modeling.py",))


def _config(name: str, **kwargs: object) -> dict[str, object]:
    return {"module": name, "kwargs": kwargs}


_IMAGENET = _flax("imagenet")
_LM1B = _flax("lm1b")

_FLAX_EXAMPLES = (
    Entry(
        "flax/ResNet18",
        _IMAGENET,
        "imagenet.models:ResNet18",
        {"num_classes": 1000, "dtype": "float32"},
        (IMAGE,),
        EVAL,
    ),
    Entry(
        "flax/ResNet50",
        _IMAGENET,
        "imagenet.models:ResNet50",
        {"num_classes": 1000, "dtype": "float32"},
        (IMAGE,),
        EVAL,
    ),
    Entry(
        "flax/ResNet1",
        _IMAGENET,
        "imagenet.models:_ResNet1",
        {"num_classes": 10, "num_filters": 16},
        ("float32[1,32,32,3]",),
        EVAL,
    ),
    Entry(
        "flax/ResNet18Local",
        _IMAGENET,
        "imagenet.models:ResNet18Local",
        {"num_classes": 1000},
        (IMAGE,),
        EVAL,
        runs=False,
    ),
    Entry(
        "flax/TransformerLM",
        _LM1B,
        "lm1b.models:TransformerLM",
        {
            "config": _config(
                "TransformerConfig",
                vocab_size=1000,
                output_vocab_size=1000,
                emb_dim=64,
                num_heads=4,
                num_layers=2,
                qkv_dim=64,
                mlp_dim=128,
                max_len=64,
                deterministic=True,
                decode=False,
            )
        },
        ("float32[2,64]",),
    ),
    Entry(
        "flax/TransformerLM-decode",
        _LM1B,
        "lm1b.models:TransformerLM",
        {
            "config": _config(
                "TransformerConfig",
                vocab_size=1000,
                output_vocab_size=1000,
                emb_dim=64,
                num_heads=4,
                num_layers=2,
                qkv_dim=64,
                mlp_dim=128,
                max_len=64,
                deterministic=True,
                decode=True,
            )
        },
        ("float32[2,64]",),
        runs=False,
    ),
    Entry(
        "flax/nlp_seq",
        _flax("nlp_seq"),
        "nlp_seq.models:Transformer",
        {
            "config": _config(
                "TransformerConfig",
                vocab_size=100,
                output_vocab_size=20,
                max_len=32,
                emb_dim=64,
                num_heads=4,
                num_layers=2,
                qkv_dim=64,
                mlp_dim=128,
            )
        },
        ("inputs=float32[2,32]",),
        EVAL,
    ),
    Entry(
        "flax/VAE",
        _flax("vae"),
        "vae.models:VAE",
        {"latents": 20},
        ("float32[2,784]", "key<fry>[]"),
    ),
    Entry(
        "flax/Seq2seq",
        _flax("seq2seq"),
        "seq2seq.models:Seq2seq",
        {"teacher_force": False, "hidden_size": 32, "vocab_size": 20, "eos_id": 1},
        ("float32[2,8,20]", "float32[2,6,20]"),
        seeds=(("params", 0), ("lstm", 1)),
    ),
    Entry(
        "flax/TextClassifier",
        _flax("sst2"),
        "sst2.models:TextClassifier",
        {
            "embedding_size": 32,
            "hidden_size": 64,
            "vocab_size": 100,
            "output_size": 1,
            "dropout_rate": 0.1,
            "word_dropout_rate": 0.1,
            "unk_idx": 1,
            "deterministic": True,
        },
        ("int32[2,7]", "int32[2]"),
    ),
    Entry(
        "flax/ActorCritic",
        _flax("ppo"),
        "ppo.models:ActorCritic",
        {"num_outputs": 4},
        ("float32[1,84,84,4]",),
    ),
    Entry(
        "flax/wmt",
        _flax("wmt"),
        "wmt.models:Transformer",
        {
            "config": _config(
                "TransformerConfig",
                vocab_size=100,
                output_vocab_size=100,
                emb_dim=32,
                num_heads=4,
                num_layers=2,
                qkv_dim=32,
                mlp_dim=64,
                max_len=32,
                deterministic=True,
            )
        },
        ("int32[2,8]", "int32[2,8]"),
    ),
    Entry(
        "flax/mnist-CNN",
        _flax(
            "mnist",
            "tensorflow",
            "tensorflow.io",
            "tensorflow_datasets",
            "tensorboard",
            "tensorboard.plugins",
            "tensorboard.plugins.hparams",
            "ml_collections",
            file="train.py",
        ),
        "mnist.train:CNN",
        {},
        ("float32[1,28,28,1]",),
    ),
)

_LINEN = (
    Entry(
        "vision_transformer/ViT-Ti",
        Repository(
            "google-research/vision_transformer",
            "c6de1e5378c9831a8477feb30994971bdc409e46",
            ("vit_jax/models_vit.py", "vit_jax/models_resnet.py"),
        ),
        "vit_jax.models_vit:VisionTransformer",
        {
            "num_classes": 1000,
            "patches": _config("types:SimpleNamespace", size=[16, 16]),
            "transformer": {"mlp_dim": 768, "num_heads": 3, "num_layers": 12},
            "hidden_size": 192,
            "classifier": "token",
            "representation_size": None,
        },
        (IMAGE,),
        EVAL,
    ),
    *(
        Entry(
            f"big_vision/ViT-Ti-{'scan' if scan else 'loop'}",
            Repository(
                "google-research/big_vision",
                "0127fb6b337ee2a27bf4e54dea79cff176527356",
                ("big_vision/models/vit.py", "big_vision/models/common.py"),
                stubs=("big_vision.utils", "tensorflow", "tensorflow.io"),
            ),
            "big_vision.models.vit:Model",
            {"num_classes": 1000, "variant": "Ti/16", "scan": scan},
            (IMAGE,),
        )
        for scan in (False, True)
    ),
    Entry(
        "t5x/T5",
        Repository(
            "google-research/t5x",
            "cc342d419ec3e3e9c4bf1df33c82330cafdc1e16",
            ("t5x/examples/t5/network.py", "t5x/examples/t5/layers.py"),
        ),
        "t5x.examples.t5.network:Transformer",
        {
            "config": _config(
                "T5Config",
                vocab_size=128,
                dtype="float32",
                emb_dim=32,
                num_heads=4,
                num_encoder_layers=2,
                num_decoder_layers=2,
                head_dim=8,
                mlp_dim=64,
                mlp_activations=["gelu", "linear"],
                dropout_rate=0.0,
            )
        },
        ("int32[2,8]", "int32[2,8]", "int32[2,8]"),
        (("enable_dropout", "false"),),
    ),
    Entry(
        "nanodl/GPT4",
        Repository(
            "HMUNACHI/nanodl",
            "5f729f30e35854f42205d541e6ec3b2e37be09ff",
            ("nanodl/__src/models/gpt.py",),
            "MIT",
            stubs=("nanodl.__src.utils",),
        ),
        "nanodl.__src.models.gpt:GPT4",
        {
            "num_layers": 2,
            "hidden_dim": 32,
            "num_heads": 4,
            "feedforward_dim": 64,
            "dropout": 0.1,
            "vocab_size": 50,
            "embed_dim": 32,
            "max_length": 16,
            "start_token": 0,
            "end_token": 1,
        },
        ("int32[1,16]",),
    ),
    Entry(
        "octo/SmallStem16",
        Repository(
            "octo-models/octo",
            "241fb3514b7c40957a86d869fecb7c7fc353f540",
            (
                "octo/model/components/vit_encoders.py",
                "octo/model/components/film_conditioning_layer.py",
            ),
            "MIT",
        ),
        "octo.model.components.vit_encoders:SmallStem16",
        {},
        ("float32[1,64,64,3]",),
    ),
    Entry(
        "flaxmodels/ResNet18",
        Package(
            "flaxmodels",
            "0.1.3",
            "MIT",
            ("requests", "tqdm", "h5py", "urllib3", "certifi", "idna", "regex"),
            stubs=("filelock", "charset_normalizer"),
        ),
        "flaxmodels:ResNet18",
        {"output": "logits", "pretrained": None, "num_classes": 10},
        ("float32[1,64,64,3]",),
        EVAL,
    ),
)

_PYPI = (
    Entry(
        "mamba2-jax/Mamba2ForCausalLM",
        Package("mamba2-jax", "1.1.2", "MIT", installed=True),
        "mamba2_jax:Mamba2ForCausalLM",
        {
            "cfg": _config(
                "Mamba2Config",
                vocab_size=64,
                hidden_size=32,
                num_hidden_layers=2,
                state_size=16,
                head_dim=8,
                expand=2,
            )
        },
        ("int32[1,32]",),
    ),
    Entry(
        "equinox/MLP",
        Package("equinox", "0.13.8", "Apache-2.0", installed=True),
        "equinox.nn:MLP",
        {"in_size": 4, "out_size": 3, "width_size": 16, "depth": 2},
        ("float32[4]",),
    ),
    Entry(
        "equinox/GRUCell",
        Package("equinox", "0.13.8", "Apache-2.0", installed=True),
        "equinox.nn:GRUCell",
        {"input_size": 4, "hidden_size": 8},
        ("float32[4]", "float32[8]"),
    ),
    Entry(
        "flax/MultiHeadDotProductAttention",
        Package("flax", "0.12.8", "Apache-2.0", installed=True),
        "flax.linen:MultiHeadDotProductAttention",
        {"num_heads": 4, "qkv_features": 32},
        ("float32[2,5,32]",),
    ),
    Entry(
        "flax/nnx-MultiHeadAttention",
        Package("flax", "0.12.8", "Apache-2.0", installed=True),
        "flax.nnx:MultiHeadAttention",
        {"num_heads": 4, "in_features": 32, "qkv_features": 32, "decode": False},
        ("float32[2,5,32]",),
    ),
)


def _nnx(
    model: str,
    name: str,
    config: str,
    *inputs: str,
    argument: str = "cfg",
    statics: tuple[tuple[str, str], ...] = (),
    runs: bool = True,
) -> Entry:
    return Entry(
        f"bonsai/{name}",
        _bonsai(model),
        f"bonsai.models.{model}.modeling:{name}",
        {argument: _config(f"ModelConfig.{config}")},
        inputs,
        statics,
        runs=runs,
    )


_BONSAI = (
    _nnx("resnet", "ResNet", "resnet50", IMAGE),
    _nnx(
        "vit",
        "ViTClassificationModel",
        "vit_p16_224",
        IMAGE,
        statics=(("rngs", "null"),),
    ),
    _nnx("vae", "VAE", "stable_diffusion_v1_5", "float32[1,64,64,3]"),
    _nnx("mamba2", "Mamba2ForCausalLM", "tiny", "int32[1,32]"),
    _nnx("efficientnet", "EfficientNet", "b0", IMAGE),
    _nnx("densenet121", "DenseNet", "densenet_121", IMAGE),
    _nnx("vgg19", "VGG", "vgg_19", IMAGE, runs=False),
    _nnx(
        "dinov3",
        "Dinov3ViTModel",
        "dinov3_vits16",
        "float32[1,3,224,224]",
        argument="config",
    ),
    _nnx("qwen3", "Qwen3", "qwen3_0_6b", runs=False),
)

ENTRIES: tuple[Entry, ...] = (*_FLAX_EXAMPLES, *_LINEN, *_PYPI, *_BONSAI)
"""All of them, in the order in which they are taken."""
