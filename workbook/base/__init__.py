"""What every part stands on: values checked at the door, files, forms, rules, secrets."""
