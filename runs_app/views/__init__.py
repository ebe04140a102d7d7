"""Page views about turns, runs and questions; each asks a selector or a service and renders."""
