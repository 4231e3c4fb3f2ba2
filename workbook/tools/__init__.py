"""What stands on the core: test servers, judges of your own code, workshops and the command line."""
