public import HTTPTypes

/// A layer that attaches a credential, and can tell beforehand whose it is going to be.
///
/// Limits that are counted per credential hold a request before any layer has attached something to it; so the engine
/// asks those who will. It finds those that stand directly in a client's list of layers, or among the call's own
/// attempt layers: one that is wrapped in another has to be told of by that one.
public protocol CredentialPresenting: ClientLayer {
    /// Whose credential the layer is going to attach to a request; nil if it leaves the request alone, has nothing
    /// to attach, or cannot tell.
    func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity?
}

extension CredentialPresenting {
    /// Inside the engine, so that each attempt carries the newest credential.
    public var place: CallContext.LayerPlace { .insideRecovery }
}

/// A layer that still knows whose credential an attempt has presented.
package protocol CredentialRemembering: CredentialPresenting {
    /// Whose credential the layer has attached to the attempt; nil if it has attached none, or does not know any more.
    func presentedCredential(in context: CallContext) -> PresentedCredential.Identity?
}

extension CallContext {
    /// What the limits of a request's credential are kept by: what the call says, else what the layers say that are
    /// going to attach one, else a fingerprint of the field that stands there already.
    func credential(of request: HTTPRequest) async -> PresentedCredential.Identity {
        if let id = options.credentialID { return PresentedCredential.Identity(name: id) }
        for case let layer as any CredentialPresenting in surroundings.presenters + options.attemptLayers {
            if let identity = await layer.credential(for: request, context: self) { return identity }
        }
        return PresentedCredential.Identity(
            name: request.headerFields[.authorization].map { Fingerprint.text(of: $0) } ?? ""
        )
    }

    /// What the limits of the credential are kept by that an attempt has presented: as its layer remembers it, else as
    /// it would be for an attempt that is coming.
    func presentedCredential(of request: HTTPRequest) async -> PresentedCredential.Identity {
        if options.credentialID == nil {
            for case let layer as any CredentialRemembering in surroundings.presenters + options.attemptLayers {
                if let identity = layer.presentedCredential(in: self) { return identity }
            }
        }
        return await credential(of: request)
    }
}
