"""Chat models: the port, the offline model, and how real ones are found."""
