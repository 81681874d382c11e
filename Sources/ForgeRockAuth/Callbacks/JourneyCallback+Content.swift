public import HTTPRecovery

extension JourneyCallback {
    /// What a callback is about.
    @nonexhaustive public enum Content: Sendable, Hashable {
        /// A name is wanted, mostly that of the account.
        case name(prompt: String?)
        /// A password or a code is wanted.
        case password(prompt: String?)
        /// A text is wanted.
        case textInput(prompt: String?, defaultText: String?)
        /// A text to show.
        case textOutput(message: String?, TextKind)
        /// One of several choices is wanted, by its index.
        case choice(prompt: String?, choices: [String], defaultIndex: Int)
        /// A confirmation is wanted: the number of one of the options.
        case confirmation(prompt: String?, options: [ConfirmationOption], defaultValue: Int?)
        /// A value that goes back without being shown.
        case hidden(id: String?, value: String?)
        /// Nothing is wanted but patience.
        case pollingWait(Duration?, message: String?)
        /// The journey goes on elsewhere, mostly by a link in a mail.
        case suspended(message: String?)
        /// Data for the app.
        case metadata(JSONValue)
        /// The person has to visit another site.
        case redirect(Redirect)
        /// A description of the device is wanted.
        case deviceProfile(wantsMetadata: Bool, wantsLocation: Bool, message: String?)
        /// A captcha has to be solved.
        case reCaptcha(siteKey: String?)
        /// A sign-in at another identity provider is wanted.
        case identityProvider(name: String?)
        /// One of several identity providers has to be chosen.
        case selectIdentityProvider([String])
        /// Terms have to be accepted.
        case terms(version: String?, text: String?)
        /// A security question with its answer is wanted: one of those that are listed, or one of the person's own where that
        /// is allowed.
        case securityQuestion(prompt: String?, questions: [String], allowsOwn: Bool)
        /// A truth value of the profile is wanted.
        case booleanAttribute(Attribute)
        /// A number of the profile is wanted.
        case numberAttribute(Attribute)
        /// A text of the profile is wanted.
        case stringAttribute(Attribute)
        /// A new user name is wanted.
        case validatedUsername(Attribute)
        /// A new password is wanted.
        case validatedPassword(Attribute)
        /// A key of the device is to be bound to the account.
        case deviceBinding
        /// Something is to be signed with a key that was bound.
        case deviceSigningVerifier
        /// PingOne Protect is to be started; by data, its inputs are hidden values beside it.
        case protectInitialize
        /// The signals of PingOne Protect are wanted; by data, their inputs are hidden values beside it.
        case protectEvaluation
        /// An attestation of the app is wanted.
        case appIntegrity
        /// An answer to an HTTP authentication scheme is wanted.
        case http
        /// A client certificate is wanted.
        case certificate
        /// A language is wanted.
        case language
        /// A consent is wanted.
        case consent(message: String?)
        /// A type that this version does not know.
        case other

        /// The sort of a text to show.
        @nonexhaustive public enum TextKind: String, Sendable, Hashable {
            /// For information.
            case information = "0"
            /// A warning.
            case warning = "1"
            /// An error.
            case error = "2"
            /// A script that a browser would run; nothing to show.
            case script = "4"
        }

        /// An option of a confirmation.
        public struct ConfirmationOption: Sendable, Hashable {
            /// The label to show.
            public var label: String
            /// What is sent for it.
            public var value: Int
        }

        /// Where the person has to go.
        public struct Redirect: Sendable, Hashable {
            /// The URL.
            public var url: String?
            /// The method, `GET` or `POST`.
            public var method: String
            /// Whether the server keeps track of the journey by a cookie.
            public var usesTrackingCookie: Bool
            /// The data of a POST.
            public var data: JSONValue?
        }

        init(type: String, _ outputs: CallbackOutputs) {
            let prompt = outputs.text("prompt")
            switch type {
            case "NameCallback": self = .name(prompt: prompt)
            case "PasswordCallback": self = .password(prompt: prompt)
            case "TextInputCallback": self = .textInput(prompt: prompt, defaultText: outputs.text("defaultText"))
            case "TextOutputCallback":
                let kind = outputs["messageType"]?.codeText.flatMap(TextKind.init) ?? .information
                self = .textOutput(message: outputs.text("message"), kind)
            case "ChoiceCallback":
                let index = outputs.number("defaultChoice") ?? 0
                self = .choice(prompt: prompt, choices: outputs.texts("choices"), defaultIndex: index)
            case "ConfirmationCallback":
                self = .confirmation(
                    prompt: prompt,
                    options: Self.options(outputs.texts("options"), type: outputs.number("optionType") ?? -1),
                    defaultValue: outputs.number("defaultOption")
                )
            case "HiddenValueCallback": self = .hidden(id: outputs.text("id"), value: outputs["value"]?.codeText)
            case "PollingWaitCallback":
                let milliseconds = outputs.number("waitTime").flatMap { $0 < 0 ? nil : $0 }
                let wait = milliseconds.map { Duration.saturating(seconds: Double($0) / 1000) }
                self = .pollingWait(wait, message: outputs.text("message"))
            case "SuspendedTextOutputCallback": self = .suspended(message: outputs.text("message"))
            case "MetadataCallback": self = Self.described(outputs["data"] ?? .null)
            case "RedirectCallback":
                self = .redirect(
                    Redirect(
                        url: outputs.text("redirectUrl"),
                        method: outputs.text("redirectMethod") ?? "GET",
                        usesTrackingCookie: outputs.flag("trackingCookie"),
                        data: outputs["redirectData"]
                    )
                )
            default: self = Self.furtherTypes(type, outputs)
            }
        }

        /// What data stands for, where an older server has a type of its own for it.
        private static func described(_ data: JSONValue) -> Content {
            guard data["_type"]?.string == "PingOneProtect" else { return .metadata(data) }
            return data["_action"]?.string == "protect_initialize" ? .protectInitialize : .protectEvaluation
        }

        private static func furtherTypes(_ type: String, _ outputs: CallbackOutputs) -> Content {
            switch type {
            case "DeviceProfileCallback":
                .deviceProfile(
                    wantsMetadata: outputs.flag("metadata"),
                    wantsLocation: outputs.flag("location"),
                    message: outputs.text("message")
                )
            case "ReCaptchaCallback", "ReCaptchaEnterpriseCallback":
                .reCaptcha(siteKey: outputs.text("recaptchaSiteKey"))
            case "IdPCallback": .identityProvider(name: outputs.text("provider"))
            case "SelectIdPCallback":
                .selectIdentityProvider(
                    (outputs["providers"]?.array ?? []).prefix(256).compactMap { $0["provider"]?.string ?? $0.string }
                )
            case "TermsAndConditionsCallback":
                .terms(version: outputs.text("version"), text: outputs.text("terms"))
            case "KbaCreateCallback":
                .securityQuestion(
                    prompt: outputs.text("prompt"),
                    questions: outputs.texts("predefinedQuestions"),
                    allowsOwn: outputs.flag("allowUserDefinedQuestions")
                )
            case "BooleanAttributeInputCallback": .booleanAttribute(Attribute(outputs))
            case "NumberAttributeInputCallback": .numberAttribute(Attribute(outputs))
            case "StringAttributeInputCallback": .stringAttribute(Attribute(outputs))
            case "ValidatedCreateUsernameCallback": .validatedUsername(Attribute(outputs))
            case "ValidatedCreatePasswordCallback": .validatedPassword(Attribute(outputs))
            case "DeviceBindingCallback": .deviceBinding
            case "DeviceSigningVerifierCallback": .deviceSigningVerifier
            case "PingOneProtectInitializeCallback": .protectInitialize
            case "PingOneProtectEvaluationCallback": .protectEvaluation
            case "AppIntegrityCallback": .appIntegrity
            case "HttpCallback": .http
            case "X509Callback", "X509CertificateCallback": .certificate
            case "LanguageCallback": .language
            case "ConsentMappingCallback": .consent(message: outputs.text("message"))
            default: .other
            }
        }

        /// The options; if none are listed, those of Java's predefined types with their numbers.
        private static func options(_ labels: [String], type: Int) -> [ConfirmationOption] {
            if !labels.isEmpty {
                return labels.enumerated().map { ConfirmationOption(label: $0.element, value: $0.offset) }
            }
            let (yes, no) = (ConfirmationOption(label: "Yes", value: 0), ConfirmationOption(label: "No", value: 1))
            let cancel = ConfirmationOption(label: "Cancel", value: 2)
            switch type {
            case 0: return [yes, no]
            case 1: return [yes, no, cancel]
            case 2: return [ConfirmationOption(label: "OK", value: 3), cancel]
            default: return []
            }
        }
    }

    /// The attribute that is asked for, if the callback is about one of the profile.
    public var attribute: Attribute? {
        switch content {
        case .booleanAttribute(let attribute), .numberAttribute(let attribute), .stringAttribute(let attribute),
            .validatedUsername(let attribute), .validatedPassword(let attribute):
            attribute
        default: nil
        }
    }

    /// How long to wait before the journey is asked again; nil if it wants something else.
    var pollingWait: Duration? {
        if case .pollingWait(let wait, _) = content { wait ?? .seconds(2) } else { nil }
    }

    /// How long the server wants its client to wait; nil if it states nothing that can be read.
    var statedPollingWait: Duration? {
        if case .pollingWait(let wait, _) = content { wait } else { nil }
    }

    /// Whether it wants a proof that a person, or the genuine app, is there.
    var isProofOfHumanity: Bool {
        switch content {
        case .reCaptcha, .appIntegrity: true
        default: false
        }
    }

    /// The question in the server's words.
    var prompt: String? {
        switch content {
        case .name(let prompt), .password(let prompt), .textInput(let prompt, _), .choice(let prompt, _, _),
            .confirmation(let prompt, _, _), .securityQuestion(let prompt, _, _):
            prompt
        case .terms(_, let text): text
        case .consent(let message): message
        default: attribute?.prompt
        }
    }
}
