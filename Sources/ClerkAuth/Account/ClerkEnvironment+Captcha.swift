package import AuthRecovery
import HTTPRecovery

extension ClerkEnvironment {
    /// How an instance has captchas shown: what an app needs to show the widget.
    public struct Captcha: Sendable, Hashable {
        /// Whether a sign-up in a browser has to bring one; natively Clerk asks when it wants one.
        public var isWantedAtSignUp: Bool
        /// Whose widget it is, by Clerk's word, such as `turnstile`.
        public var provider: String?
        /// The sort of widget, by Clerk's word: `smart` or `invisible`.
        public var widgetType: String?
        /// The site's key.
        public var siteKey: String?
        /// The site's key for the invisible widget.
        public var invisibleSiteKey: String?

        package init() {
            isWantedAtSignUp = false
        }

        /// Reads an environment; nil when it says nothing of captchas.
        init?(_ environment: JSONValue) {
            let display = environment["display_config"]
            isWantedAtSignUp = environment["user_settings"]?["sign_up"]?["captcha_enabled"]?.bool == true
            provider = display?["captcha_provider"]?.string?.nonEmpty
            widgetType = display?["captcha_widget_type"]?.string?.nonEmpty
            siteKey = display?["captcha_public_key"]?.string?.nonEmpty
            invisibleSiteKey = display?["captcha_public_key_invisible"]?.string?.nonEmpty
            if !isWantedAtSignUp, siteKey == nil, invisibleSiteKey == nil { return nil }
        }

        /// What is told of it, by Clerk's names.
        var members: [JSONValue.Member] {
            [
                ("captcha_provider", provider), ("captcha_widget_type", widgetType), ("captcha_public_key", siteKey),
                ("captcha_public_key_invisible", invisibleSiteKey),
            ]
            .compactMap { name, value in value.map { JSONValue.Member(name, .string($0.bounded(to: 512))) } }
        }
    }
}

extension ClerkEnvironment.Captcha: RememberedFields {
    package static var fields: [RememberedField<ClerkEnvironment.Captcha>] {
        [
            .init("wanted", \.isWantedAtSignUp), .init("provider", \.provider), .init("widget_type", \.widgetType),
            .init("site_key", \.siteKey), .init("invisible_site_key", \.invisibleSiteKey),
        ]
    }
}
