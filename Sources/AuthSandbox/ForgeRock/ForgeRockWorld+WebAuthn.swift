import HTTPRecovery

// WebAuthn ceremonies (Web Authentication Level 2, sections 7.1 and 7.2).
//
// Checked are the type, the challenge and the origin of the client's data, the hash of the relying party's id, the
// flags, the credential's id, its key, the counter and the signature: that of a proof, and that of an attestation which the
// credential has made itself. Certificates of attestations are not looked at.
extension ForgeRockWorld {
    mutating func registrationPage(_ run: inout ForgeRockRun, _ exchange: ForgeRockExchange) -> ForgeRockPage {
        run.challenge = makeChallenge()
        let settings = exchange.settings
        let account = account(of: run)
        let excluded = account?.credentials.map(\.id) ?? []
        let name = account?.name ?? ""
        let handle = Self.base64(Array(name.utf8))
        // With its name the server leaves it to the client which host it acts for.
        let fragment = settings.relyingPartyID.isEmpty ? "" : "id: \"\(settings.relyingPartyID)\","
        switch settings.webAuthnForm {
        case "script":
            return scriptPage(
                """
                var publicKey = {
                    challenge: new Int8Array(\(Self.list(run.challenge))).buffer,
                    // Relying Party:
                    rp: {
                        \(fragment)
                        name: "Sandbox"
                    },
                    // User:
                    user: {
                        id: Uint8Array.from("\(handle)", function (c) { return c.charCodeAt(0) }),
                        name: "\(name)",
                        displayName: "\(name)"
                    },
                    pubKeyCredParams: [ { "type": "public-key", "alg": -7 } ],
                    attestation: "none",
                    timeout: \(settings.webAuthnTimeout),
                    excludeCredentials: [\(Self.scripted(excluded))],
                    authenticatorSelection: {"userVerification":"\(settings.userVerification)"}
                };

                navigator.credentials.create({publicKey: publicKey})
                """,
                stage: "WebAuthnRegistration"
            )
        case "old_metadata":
            return metadataPage(
                [
                    "challenge": .string(Self.base64(run.challenge)), "attestationPreference": "none",
                    "userName": .string(name), "userId": .string(handle), "relyingPartyName": "Sandbox",
                    "authenticatorSelection": .string(#"{"userVerification":"\#(settings.userVerification)"}"#),
                    "pubKeyCredParams": #"[ { "type": "public-key", "alg": -7 } ]"#,
                    "timeout": .string(String(settings.webAuthnTimeout)),
                    "excludeCredentials": .string(Self.scripted(excluded)), "displayName": .string(name),
                    "relyingPartyId": .string(fragment),
                ],
                stage: "WebAuthnRegistration"
            )
        default:
            return metadataPage(
                [
                    "relyingPartyName": "Sandbox", "attestationPreference": "none", "displayName": .string(name),
                    "_type": "WebAuthn", "_action": "webauthn_registration", "relyingPartyId": .string(fragment),
                    "_relyingPartyId": .string(settings.relyingPartyID), "userName": .string(name),
                    "userId": .string(handle), "timeout": .string(String(settings.webAuthnTimeout)),
                    "_pubKeyCredParams": [["type": "public-key", "alg": -7]],
                    "pubKeyCredParams": #"[ { "type": "public-key", "alg": -7 } ]"#,
                    "_excludeCredentials": Self.described(excluded),
                    "excludeCredentials": .string(Self.scripted(excluded)),
                    "_authenticatorSelection": ["userVerification": .string(settings.userVerification)],
                    "authenticatorSelection": .string(#"{"userVerification":"\#(settings.userVerification)"}"#),
                    "challenge": .string(Self.base64(run.challenge)),
                    "supportsJsonResponse": .bool(settings.wantsJSONOutcome),
                ],
                stage: "WebAuthnRegistration"
            )
        }
    }

    mutating func authenticationPage(_ run: inout ForgeRockRun, _ exchange: ForgeRockExchange) -> ForgeRockPage {
        run.challenge = makeChallenge()
        let settings = exchange.settings
        let allowed = account(of: run)?.credentials.map(\.id) ?? []
        let fragment = settings.relyingPartyID.isEmpty ? "" : "rpId: \"\(settings.relyingPartyID)\","
        let list = allowed.isEmpty ? "" : "allowCredentials: [\(Self.scripted(allowed))]"
        switch settings.webAuthnForm {
        case "script":
            return scriptPage(
                """
                var acceptableCredentials = [
                    \(Self.scripted(allowed))
                ];

                var options = {
                    \(fragment)
                    challenge: new Int8Array(\(Self.list(run.challenge))).buffer,
                    timeout: \(settings.webAuthnTimeout),
                    userVerification: "\(settings.userVerification)",
                    allowCredentials: acceptableCredentials
                };

                navigator.credentials.get({ "publicKey" : options })
                """,
                stage: "WebAuthnAuthentication"
            )
        case "old_metadata":
            return metadataPage(
                [
                    "challenge": .string(Self.base64(run.challenge)), "allowCredentials": .string(list),
                    "timeout": .string(String(settings.webAuthnTimeout)),
                    "userVerification": .string(settings.userVerification), "relyingPartyId": .string(fragment),
                ],
                stage: "WebAuthnAuthentication"
            )
        default:
            return metadataPage(
                [
                    "userVerification": .string(settings.userVerification),
                    "challenge": .string(Self.base64(run.challenge)), "relyingPartyId": .string(fragment),
                    "allowCredentials": .string(list), "_allowCredentials": Self.described(allowed),
                    "timeout": .string(String(settings.webAuthnTimeout)), "_action": "webauthn_authentication",
                    "_type": "WebAuthn", "_relyingPartyId": .string(settings.relyingPartyID),
                    "supportsJsonResponse": .bool(settings.wantsJSONOutcome),
                ],
                stage: "WebAuthnAuthentication"
            )
        }
    }

    private func metadataPage(_ data: JSONValue, stage: String) -> ForgeRockPage {
        ForgeRockPage(
            stage,
            [
                ForgeRockCallback("MetadataCallback", ["data": data]),
                .hidden("webAuthnOutcome", "false", preset: "false"),
            ]
        )
    }

    /// A page for browsers alone: the ceremony as a script, and another script that shows that something is under way.
    private func scriptPage(_ script: String, stage: String) -> ForgeRockPage {
        let text = """
            if (!window.PublicKeyCredential) {
                document.getElementById('webAuthnOutcome').value = "unsupported";
                document.getElementById("loginButton_0").click();
            }

            \(script)
                .then(function (credential) {
                    document.getElementById('webAuthnOutcome').value = credential.id;
                    document.getElementById("loginButton_0").click();
                }).catch(function (err) {
                    document.getElementById('webAuthnOutcome').value = "ERROR" + "::" + err;
                    document.getElementById("loginButton_0").click();
                });
            """
        let decoration = #"document.getElementById("wrapper").innerHTML += "<h4>Waiting for local device...</h4>\n";"#
        return ForgeRockPage(
            stage,
            [
                .text(text, kind: "4"), .text(decoration, kind: "4"),
                .hidden("webAuthnOutcome", "false", preset: "false"),
            ]
        )
    }

    private mutating func makeChallenge() -> [UInt8] {
        (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    // MARK: Outcomes

    mutating func register(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> String? {
        guard let id = run.account, accounts[id] != nil else { return "failure" }
        switch ForgeRockOutcome(answers.text(Self.outcomeIndex(run))) {
        case .unsupported: return "unsupported"
        case .error: return "error"
        case .success(let parts):
            guard let made = ForgeRockAttestation(parts), accepts(made.client, "webauthn.create", run, exchange),
                accepts(made.data, exchange), let key = made.data.credential, key.id == made.credentialID,
                P256Key(cose: key.publicKey) != nil,
                accounts[id]?.credentials.contains(where: { $0.id == key.id }) == false
            else { return "failure" }
            var credential = ForgeRockCredential(id: key.id, publicKey: key.publicKey, counter: made.data.counter)
            if let name = made.name { credential.name = name }
            accounts[id]?.credentials.append(credential)
            counters.ceremonies += 1
            return "success"
        }
    }

    mutating func prove(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> String? {
        // The button wins over whatever else has come.
        if let button = run.callbacks.firstIndex(where: { $0.type == "ConfirmationCallback" }),
            answers.number(button) == 0
        {
            return "recovery"
        }
        switch ForgeRockOutcome(answers.text(Self.outcomeIndex(run))) {
        case .unsupported: return "unsupported"
        case .error: return "error"
        case .success(let parts):
            guard let id = run.account, let proof = ForgeRockAssertion(parts),
                accepts(proof.client, "webauthn.get", run, exchange), accepts(proof.data, exchange),
                let index = accounts[id]?.credentials.firstIndex(where: { $0.id == proof.credentialID }),
                let known = accounts[id]?.credentials[index], proof.isMade(by: known),
                // A counter that does not grow is that of a copy (section 7.2, step 21).
                proof.data.counter > known.counter || (proof.data.counter == 0 && known.counter == 0)
            else { return "failure" }
            accounts[id]?.credentials[index].counter = proof.data.counter
            counters.ceremonies += 1
            return "success"
        }
    }

    private static func outcomeIndex(_ run: ForgeRockRun) -> Int {
        run.callbacks.lastIndex { $0.type == "HiddenValueCallback" } ?? 0
    }

    private func accepts(
        _ client: JSONValue,
        _ type: String,
        _ run: ForgeRockRun,
        _ exchange: ForgeRockExchange
    ) -> Bool {
        let origin = client["origin"]?.string ?? ""
        let party = exchange.relyingParty
        let isOwn = origin == exchange.origin && (exchange.host == party || exchange.host.hasSuffix("." + party))
        return client["type"]?.string == type
            && client["challenge"]?.string == Base64.encodeForURL(run.challenge)
            && (isOwn || origin == "https://" + party || exchange.settings.origins.contains(origin))
    }

    private func accepts(_ data: AuthenticatorData, _ exchange: ForgeRockExchange) -> Bool {
        let settings = exchange.settings
        return data.relyingPartyHash == SHA256.hash(Array(exchange.relyingParty.utf8))
            && data.isPresent && (settings.userVerification != "required" || data.isVerified)
    }

    // MARK: Ways to write bytes

    /// Base64 of RFC 4648 section 4, with its padding.
    static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64.encodeForURL(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }

    private static func list(_ bytes: [UInt8]) -> String {
        "[" + bytes.map { String(Int8(bitPattern: $0)) }.joined(separator: ", ") + "]"
    }

    private static func scripted(_ ids: [[UInt8]]) -> String {
        ids.map { "{ \"type\": \"public-key\", \"id\": new Int8Array(\(list($0))).buffer }" }.joined(separator: ",")
    }

    private static func described(_ ids: [[UInt8]]) -> JSONValue {
        .array(
            ids.map { id in
                ["type": "public-key", "id": .array(id.map { .int(Int64(Int8(bitPattern: $0))) })]
            }
        )
    }
}
