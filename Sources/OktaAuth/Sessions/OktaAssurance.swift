package import AuthRecovery
public import HTTPRecovery

/// How strongly, and how lately, a person has to prove themselves (OpenID Connect Core 1.0 section 3.1.2.1).
///
/// It goes along unchanged with each request of a sign-in that takes it.
public struct OktaAssurance: Sendable, Hashable {
    /// How strongly, as `acr_values`: such as `urn:okta:loa:2fa:any`, the best first, separated by spaces; nil leaves
    /// it to the app's policy.
    public var acrValues: String?
    /// How long ago the person may have proved themselves, in whole seconds, as `max_age`; nil leaves it to the app's
    /// policy.
    ///
    /// Direct Authentication takes none: each of its sign-ins is a fresh one.
    public var maxAge: Duration?

    /// Creates a demand.
    public init(acrValues: String? = nil, maxAge: Duration? = nil) {
        self.acrValues = acrValues
        self.maxAge = maxAge
    }

    /// Reads what an API has advised with a refusal of the kind `step_up_required` (RFC 9470): `Outcome.advice`.
    ///
    /// - Parameter advice: The advice; nil, or one that names nothing, leaves all to the app's policy.
    public init(advice: JSONValue?) {
        acrValues = advice?["acr_values"]?.string?.nonEmpty
        maxAge = advice?["max_age"]?.lenientNumber.map { max(.zero, min($0.seconds, .longest)) }
    }

    /// What an advice adds to what is wanted anyway.
    func with(_ advice: OktaAssurance) -> OktaAssurance {
        OktaAssurance(acrValues: advice.acrValues ?? acrValues, maxAge: advice.maxAge ?? maxAge)
    }
}

extension OktaAssurance: RememberedFields {
    package init() { self.init(acrValues: nil) }

    package static var fields: [RememberedField<OktaAssurance>] {
        [.init("acr_values", \.acrValues), .init("max_age", \.maxAge)]
    }
}

extension OktaApp {
    /// What a suspended sign-in keeps of its beginning; one of before that takes the app's own.
    var rememberedAssurance: OktaAssurance? {
        get { assurance }
        set { assurance = newValue ?? assurance }
    }
}

extension FormFields {
    mutating func add(_ assurance: OktaAssurance) {
        add("acr_values", assurance.acrValues)
        add("max_age", assurance.maxAge.map { String(max(0, $0.components.seconds)) })
    }
}

extension Okta {
    /// The same org, with this proof wanted of each sign-in that begins here, such as for a step-up that an API has
    /// advised.
    ///
    /// A sign-in that is suspended keeps what it was begun with.
    ///
    /// - Parameter assurance: What is wanted, in place of the app's ``OktaApp/assurance``.
    public func demanding(_ assurance: OktaAssurance) -> Okta {
        var okta = self
        okta.api.configuration.app?.assurance = assurance
        return okta
    }
}
