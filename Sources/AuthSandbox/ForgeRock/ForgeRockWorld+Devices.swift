import HTTPRecovery
import HTTPRecoveryTesting

// What nodes show once: how an authenticator is set up, and the codes for whoever loses it.
extension ForgeRockWorld {
    /// A new authenticator; it holds from now on.
    mutating func authenticatorPage(_ run: inout ForgeRockRun) -> ForgeRockPage {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        let secret = String((0..<32).map { _ in alphabet[Int.random(in: 0..<32, using: &random)] })
        let name = account(of: run)?.name ?? ""
        if let id = run.account { accounts[id]?.user.totpSecret = secret }
        let uri =
            "otpauth://totp/Sandbox:\(FormEncoding.encode(name))?period=30&digits=6&secret=\(secret)&issuer=Sandbox"
        let script = """
            window.QRCodeReader.createCode({
              id: 'callback_0',
              text: '\(uri)',
              version: '20',
              code: 'L'
            });
            """
        return ForgeRockPage(
            "RegisterAuthenticator",
            [
                .text("Scan the barcode image below with your authenticator app"), .text(script, kind: "4"),
                .hidden("mfaDeviceRegistration", uri), .confirmation(["Next"]),
            ]
        )
    }

    /// New recovery codes in the script that shows them; the old ones are of no use any more.
    mutating func recoveryCodesPage(_ run: ForgeRockRun) -> ForgeRockPage {
        let codes = (0..<10).map { _ in random.letters(10) }
        if let id = run.account {
            accounts[id]?.user.backupCodes = codes
            accounts[id]?.usedRecoveryCodes = []
        }
        let lines = codes.map {
            #"    "<div class=\"text-center\">\n" +"# + "\n" + #"    "\#($0)\n" +"# + "\n" + #"    "</div>\n" +"#
        }
        let script =
            [
                #"var newLocation = document.getElementById("wrapper");"#,
                #"newLocation.getElementsByTagName("fieldset")[0].innerHTML = "<div class=\"panel panel-default\">\n" +"#,
                #"    "<h3>Your Recovery Codes</h3>\n" +"#,
                #"    "<h4>You must make a copy of these recovery codes. They cannot be displayed again.</h4>\n" +"#,
            ] + lines + [
                #"    "<p>Use one of these codes if you lose your device, which is named: <em>New Security Key</em></p>\n" +"#,
                #"    "</div>";"#, "document.body.appendChild(newLocation);",
            ]
        return ForgeRockPage("RecoveryCodes", [.text(script.joined(separator: "\n"), kind: "4")])
    }
}
