"""The wallet extension of platform B: the two classes that the app supplies, and the wallet that calls them."""
