package import AuthRecovery
import HTTPRecovery

/// What somebody has given to prove that they are no robot.
struct AbuseEvidence: RememberedFields {
    var captcha: ClerkConfiguration.Captcha?
    /// The proof that a check of Clerk's protection wants.
    var proof: Secret?

    init() {}

    init(captcha: ClerkConfiguration.Captcha) { self.captcha = captcha }

    init(proof: Secret) { self.proof = proof }

    static var fields: [RememberedField<AbuseEvidence>] {
        [.init("captcha", \.captcha), .init("proof", \.proof)]
    }

    /// The fields that present it.
    var form: FormFields {
        var form = FormFields()
        form.add("captcha_token", secret: captcha?.token)
        form.add("captcha_widget_type", captcha?.widgetType)
        form.add("proof_token", secret: proof)
        return form
    }
}

extension ClerkConfiguration.Captcha: RememberedFields {
    package init() { self.init(token: "") }

    package static var fields: [RememberedField<ClerkConfiguration.Captcha>] {
        [.init("token", \.token), .init("widget_type", \.widgetType)]
    }
}
