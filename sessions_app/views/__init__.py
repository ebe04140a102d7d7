"""Page views: each authorises by its route, asks a selector or a service, and renders."""
