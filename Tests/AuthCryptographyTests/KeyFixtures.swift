#if Cryptography
import AuthRecovery

/// Private keys that were made for these tests, in the forms in which OpenSSL writes them.
enum KeyFixture: Sendable, CaseIterable {
    case p256WithParameters, p256, rsaPKCS1, rsa, shortRSA, p384, encrypted, ed25519, ed25519WithPublicKey

    /// The PEM text.
    var pem: Secret {
        switch self {
        case .p256WithParameters: Secret(Self.p256WithParametersText)
        case .p256: Secret(Self.p256Text)
        case .rsaPKCS1: Secret(Self.rsaPKCS1Text)
        case .rsa: Secret(Self.rsaText)
        case .shortRSA: Secret(Self.shortRSAText)
        case .p384: Secret(Self.p384Text)
        case .encrypted: Secret(Self.encryptedText)
        case .ed25519: Secret(Self.ed25519Text)
        case .ed25519WithPublicKey: Secret(Self.ed25519WithPublicKeyText)
        }
    }

    /// A P-256 key in SEC 1, behind its parameters.
    private static let p256WithParametersText = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEINgqUcLvb5YcFDrfGbFdbX2mStkNjirCZ73z6OQYhUmBoAoGCCqGSM49
        AwEHoUQDQgAEiNtBvDKML6bB6hGAeXkHBoZhk3Wd+Tmpec1NC1fEbRZ4A/pj6sfV
        sbfeZzO3Xz9i7Eq/tnslxKW23FytAcVITQ==
        -----END EC PRIVATE KEY-----
        """

    /// The same key in PKCS #8.
    private static let p256Text = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2CpRwu9vlhwUOt8Z
        sV1tfaZK2Q2OKsJnvfPo5BiFSYGhRANCAASI20G8MowvpsHqEYB5eQcGhmGTdZ35
        Oal5zU0LV8RtFngD+mPqx9Wxt95nM7dfP2LsSr+2eyXEpbbcXK0BxUhN
        -----END PRIVATE KEY-----
        """

    /// An RSA key of 2048 bits in PKCS #1.
    private static let rsaPKCS1Text = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpQIBAAKCAQEArL/OYF36td5mquNiPPEXEkjECbEMaJXoaUJydwI6sCwKpb8B
        xYvWwruDt8fvlUU4LcpekEHVXrggiQMx3DMUB5pBWWY1cv0AEcRfdZ2P/uHyAY1d
        OK4cWK89sj1QE/P6QB3577EOFb6JhRWscVhhNXti4b4okeJLEy9ytShzK3EDSlPB
        EZwyzIgCaFjOaKU81X+hY50mh6bFGvYeaKyMEOf5yCFZHHpKiaW12ArKQ2gingid
        Ok2L7VGBMo32i24MHSBGNKeyS2JFISynpijUOT5RoJGfpFc95OW9IHL/mpWW82ne
        jH8vwtIsgpUYHAlTBg2Jjxep632sJqXMFMMYfQIDAQABAoIBACJOErcrYoq0SDIe
        ZpdQjzLX1WpRSPQJ9PXWNrHwdOQgUtr4U+s9amAQacdYwnijntTlD6NZF3ywVvGu
        ezvNvugFl32f4PRdTqK4mvZZ3EsS5oKtZnpHhSSNZFSdfWYA+My7xzL0t6XUyS1v
        EOgPU3qR7qCCqT7TL/J25TIZfsl823spVNHRMUorV3HKcmXagJflwBfvsA+PerI+
        FVjdmW+15F2yUtAEAu4VN3d9vxQ/1Q3r1i05oXlJTI/KgcJFFDCIwOGXuQZTnDko
        oZjg5mC5HwWY6v+RD2tbMSXgQClqQ82FToWMGgdQS4MAGTJA2YpO46sLS4ul+WJ1
        dzfqOFECgYEA5j73PGknKv/R0oK+vv6N0wQ5MtFDqf/8F2X5qnSrWEB4ECCpvHcv
        WmVKEYWbVhgadZ8yBkgLUJ6I17HI3+AAvXiVXrPL9L4Vyze1ZBtFMEOc6/qHvbsF
        vs3y82x+N5d3FdTR3q06RH+hY/QTJQkGWpFZleXHZplHmeIDQyrGLfUCgYEAwBJv
        xBoVMb/awIfOSAUThQiNS2rEaiSirW/jczx2KA4Y6L9h9ugEoJzlJYhWexpg+evZ
        QMdwq2QhcoNBv59w6uHbM05fUC8JIjxhHCcF15oEB4B9Mrey3XM1xndBYwVxE4e/
        10uIUWmPoyrV8Cf4L3YAqChxn0V5aYb03JWS42kCgYEA0xE5uAl1PHfTMzVkAtZ7
        0Mt4W9t2OetOf2yeGOJnCLng1nf64agooqdj5Pgj1CK4bscHJrb4mGkcbQ6vZHuG
        ciqOU4hjGfL/K5HgGOre3EW/HpxFv2oo9Cb75qa4deHF6x9zXLxUQ+L0YhqnSjYh
        uvivtTg1ORqehrSn5PTbQ9kCgYEAnGtnUhDbydQw1jLDL6vSpbi9OPoOU1LamNxS
        I3rNzvkMGCAkK+vwOM0NYG+T3lUxPNdx6muBulKlWpjCZsf2MZMV7MaaoLZtfdAm
        VcMB4v+u4F0nmLI5nFdDKAne2kGIQRuAhFki/wo0y/EKobYrTJuRFWE6hzcRFXuu
        1iWJpmECgYEA3IY2qP9396vbfxKdHjDuOEqpVRkcIWxf7fJsCC29mbSk2W/C2wfV
        6o2B7kWxgw3Z/BX+1dHgdutGKdy1AzR0WNghDIMW5PdksU6jtWz55cinWwqI1neP
        PVucvIeNQX0kM/Or+1N4fsjgvRs2UTl1g3oNc9lGviAYL64tZ4hxqpA=
        -----END RSA PRIVATE KEY-----
        """

    /// The same key in PKCS #8.
    private static let rsaText = """
        -----BEGIN PRIVATE KEY-----
        MIIEvwIBADANBgkqhkiG9w0BAQEFAASCBKkwggSlAgEAAoIBAQCsv85gXfq13maq
        42I88RcSSMQJsQxolehpQnJ3AjqwLAqlvwHFi9bCu4O3x++VRTgtyl6QQdVeuCCJ
        AzHcMxQHmkFZZjVy/QARxF91nY/+4fIBjV04rhxYrz2yPVAT8/pAHfnvsQ4VvomF
        FaxxWGE1e2LhviiR4ksTL3K1KHMrcQNKU8ERnDLMiAJoWM5opTzVf6FjnSaHpsUa
        9h5orIwQ5/nIIVkcekqJpbXYCspDaCKeCJ06TYvtUYEyjfaLbgwdIEY0p7JLYkUh
        LKemKNQ5PlGgkZ+kVz3k5b0gcv+alZbzad6Mfy/C0iyClRgcCVMGDYmPF6nrfawm
        pcwUwxh9AgMBAAECggEAIk4StytiirRIMh5ml1CPMtfValFI9An09dY2sfB05CBS
        2vhT6z1qYBBpx1jCeKOe1OUPo1kXfLBW8a57O82+6AWXfZ/g9F1Ooria9lncSxLm
        gq1mekeFJI1kVJ19ZgD4zLvHMvS3pdTJLW8Q6A9TepHuoIKpPtMv8nblMhl+yXzb
        eylU0dExSitXccpyZdqAl+XAF++wD496sj4VWN2Zb7XkXbJS0AQC7hU3d32/FD/V
        DevWLTmheUlMj8qBwkUUMIjA4Ze5BlOcOSihmODmYLkfBZjq/5EPa1sxJeBAKWpD
        zYVOhYwaB1BLgwAZMkDZik7jqwtLi6X5YnV3N+o4UQKBgQDmPvc8aScq/9HSgr6+
        /o3TBDky0UOp//wXZfmqdKtYQHgQIKm8dy9aZUoRhZtWGBp1nzIGSAtQnojXscjf
        4AC9eJVes8v0vhXLN7VkG0UwQ5zr+oe9uwW+zfLzbH43l3cV1NHerTpEf6Fj9BMl
        CQZakVmV5cdmmUeZ4gNDKsYt9QKBgQDAEm/EGhUxv9rAh85IBROFCI1LasRqJKKt
        b+NzPHYoDhjov2H26ASgnOUliFZ7GmD569lAx3CrZCFyg0G/n3Dq4dszTl9QLwki
        PGEcJwXXmgQHgH0yt7LdczXGd0FjBXETh7/XS4hRaY+jKtXwJ/gvdgCoKHGfRXlp
        hvTclZLjaQKBgQDTETm4CXU8d9MzNWQC1nvQy3hb23Y5605/bJ4Y4mcIueDWd/rh
        qCiip2Pk+CPUIrhuxwcmtviYaRxtDq9ke4ZyKo5TiGMZ8v8rkeAY6t7cRb8enEW/
        aij0Jvvmprh14cXrH3NcvFRD4vRiGqdKNiG6+K+1ODU5Gp6GtKfk9NtD2QKBgQCc
        a2dSENvJ1DDWMsMvq9KluL04+g5TUtqY3FIjes3O+QwYICQr6/A4zQ1gb5PeVTE8
        13Hqa4G6UqVamMJmx/YxkxXsxpqgtm190CZVwwHi/67gXSeYsjmcV0MoCd7aQYhB
        G4CEWSL/CjTL8QqhtitMm5EVYTqHNxEVe67WJYmmYQKBgQDchjao/3f3q9t/Ep0e
        MO44SqlVGRwhbF/t8mwILb2ZtKTZb8LbB9XqjYHuRbGDDdn8Ff7V0eB260Yp3LUD
        NHRY2CEMgxbk92SxTqO1bPnlyKdbCojWd489W5y8h41BfSQz86v7U3h+yOC9GzZR
        OXWDeg1z2Ua+IBgvri1niHGqkA==
        -----END PRIVATE KEY-----
        """

    /// An RSA key of 1024 bits.
    private static let shortRSAText = """
        -----BEGIN PRIVATE KEY-----
        MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAMmRvFO0j8Qicvx1
        L9miteHrqcwJNMC3q39zVhq8aSdTs860Jvn4eRkaJjuKXiwYMhm2U87Ddo1niVS0
        rJ04r/pS4fZPOLiuo7JsdsFSrmOwAyP+MmOvxWvhxi3JJwIX07Ekg/6RDODBotH9
        uiMcnh19t1dsQKLu2OTEJXkrb241AgMBAAECgYEAuY6yqu/+pRT9e5C5owUZoMec
        gRs8d+jdNK/NZUFrH+v7C99mPhnSCRy8c3VWagtAG9Fv51ijC1tz3gmRGg70V78W
        oc0a0H0HF6VmYDnTD8bYrhm0tLBuVwFmTqTp6XzBTOaZmiz8EqGj7BY0SZakgffB
        E+PpXXsWaXhdHNS8J4UCQQDv6MYTVw893HjnkTqL7Ja62p6FRLvJ3UzLl39ZqO5I
        nwORwAHdzIR5PyL1zRz/PdhW0CW7wGwo0tisOXVa25iTAkEA1xaqsx93dtBcnxtq
        3QdXQAQSb56UwH1TRGCbfQnyObVNFhaJUbxtLj6MQcXKpmhMzkHLHOxpP9kXgBH6
        f0kDFwJANtCaoUSdCOddAJvgIqRV9C+LVKvVtFPJ/iKJSHUerJ0Yda7HPmRCSGmy
        lTLeUztQONWqKXHXxKQYOZGPTMkr3QJAYVUfkAloTTsC/vkwRa9hu1VcZmhz1hug
        h6vUESRkGdtCdAFkyLklCy1A2S7BgsZmI1xApukQw9TgvpLkMZ9/pwJBALQMfUss
        9+j3lMGB9O3jO7cgCVKvJFUsyJ6qsr891ShXYhqLQ24cMZgmehGwkUUFZCaD8r1w
        gpmADSS0huNA3rY=
        -----END PRIVATE KEY-----
        """

    /// A key of the curve P-384.
    private static let p384Text = """
        -----BEGIN EC PRIVATE KEY-----
        MIGkAgEBBDAL0xJATqNN+YEt8NKaocfdfwzPdcC3EwDnfTGryxWN5gypFlyZWbOm
        uNOpe6I7FNmgBwYFK4EEACKhZANiAAQxYLngTPkK8FNLRB0tsaFefcXwPs6yFukr
        1YiREyQ4v6hguMdMq2+ywM7xINopei2Gh4IkoqmDlFE4f6mp4STp/9St2deWsPRO
        cPTXWQbuK4GeLqqBdzj1BQV8qSWLl5w=
        -----END EC PRIVATE KEY-----
        """

    /// The P-256 key, encrypted.
    private static let encryptedText = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg0UHJjHPi2XAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEHa7tuZdDDadAViC66hPwv8EgZB5
        882mwE5ajpk/hwC+uRsYri+zS5e3tdsLqswF6T4KvyXz7U+cSVqy92KHhCUTIAth
        2MmI2LNPCnn0D37SCirWRtCJ1hcIqGVriaqOA5ZibksyMT8qzogCGkz6UzLh7rGP
        6tntPeVJ9m9HeS5wirq/3amAZbKsh1IynWZPZWinWZOlFWmQXwiJrb6spE/KoXA=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// The Ed25519 key of RFC 8410 section 10.3.
    private static let ed25519Text = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        -----END PRIVATE KEY-----
        """

    /// The same key with its public key behind it, as RFC 8410 section 10.3 shows it too.
    private static let ed25519WithPublicKeyText = """
        -----BEGIN PRIVATE KEY-----
        MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
        Z9w7lshQhqowtrbLDFw4rXAxZuE=
        -----END PRIVATE KEY-----
        """
}
#endif
