/// Keys that must be refused, made for these tests with the openssl command and used nowhere else.
enum TestKeys {
    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBX7ihrpuCnKKfOpKwR
        Skbiz0YuZwg643Nb4b+TPL3bKVOIbJ//A52CRcsjP99DsZqhZANiAARPNp+0JLzO
        NQeNezP5BdgtGuQ1fKaSm1vdXvESiWZMTwsRySBrfan/OMhOUtvuOBDr41zpAYpV
        gLZrBpQQlB5WJzimUw3CCr/lPwvDe5+OJsJUAl+/AowoqyFPxCDlGto=
        -----END PRIVATE KEY-----
        """

    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIHe8esv2SAj5/k58t2Mhbs2RPnqSNeELswfLtxESWDKS
        -----END PRIVATE KEY-----
        """

    /// P-256, but with a passphrase.
    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAixcevtQH3i3QICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKQZVEBtQ231914p2bQccwMEgZBa
        xV+vTlUTXMojSMFpM2KyTlKWRU3Bwk9rxM3gpHOVRa4CPEXJLEBDHVvO/eZc+PDs
        xp2Bbhmed6T9eICMfIplSfgUb2J3pLcHdN7aJV1fhXBCn8lq3QxfhhqsVRHzbtuH
        RUIsL9gEjUaC21igtJ69QM5x/j6jTMh0Wah0yVUDJzXFrh8VIprPR3alC3xHxyg=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}
