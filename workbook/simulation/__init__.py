"""What we made up because the document does not show it: the service, the SDK stand-ins, the device."""
