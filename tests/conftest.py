"""Settings for the whole test run."""

try:
    import torch
except ImportError:  # the core and its tests do not need it
    pass
else:
    torch.set_num_threads(1)  # small networks: threads would only wait for each other
