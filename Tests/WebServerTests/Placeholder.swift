// Tests of WebServer.
