"""The loop, which alone acts on apps, SDKs and back ends, and all that is connected to it."""
