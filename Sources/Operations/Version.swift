/// The program's version, as `build_info` and `/openapi.json` tell it.
public let programVersion = "0.1.0"
