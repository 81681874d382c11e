extension CallContext {
    /// Where a layer can stand in a client, seen from the engine.
    @nonexhaustive public enum LayerPlace: Sendable, Hashable {
        /// On either side of ``Recovery``.
        case anywhere
        /// Inside: it has to see each attempt, as what attaches a credential has to, or the old one goes out again.
        case insideRecovery
        /// Outside: it is about the call as a whole, its waits included, as a deadline is.
        case outsideRecovery
        /// The engine itself: what stands inside it is done anew with each attempt.
        case recovery

        /// Why layers in this order cannot work, as a sentence; nil if they can.
        ///
        /// - Parameters:
        ///   - layers: The layers of a client, the outermost first.
        ///   - attemptLayers: Those of a call, which stand inside all of them (``RequestOptions/attemptLayers``).
        public static func problem(in layers: [any ClientLayer], attemptLayers: [any ClientLayer] = []) -> String? {
            let all = layers + attemptLayers
            for layer in all {
                if let problem = layer.problem(among: all) { return problem }
            }
            for layer in attemptLayers where layer.place == .recovery || layer.place == .outsideRecovery {
                return
                    "\(type(of: layer)) is no layer of an attempt: it is about the call as a whole, so it belongs to "
                    + "the client."
            }
            let engines = layers.indices.filter { layers[$0].place == .recovery }
            guard let first = engines.first, let last = engines.last else { return nil }
            for (index, layer) in layers.enumerated() {
                let name = "\(type(of: layer))"
                switch layer.place {
                case .anywhere, .recovery: continue
                case .insideRecovery where index < last:
                    return "\(name) stands outside Recovery, so a repeated attempt would go out as the first one did: "
                        + "write it below Recovery."
                case .outsideRecovery where index > first:
                    return "\(name) stands inside Recovery, so it would begin anew with each attempt and see no wait: "
                        + "write it above Recovery."
                case .insideRecovery, .outsideRecovery: continue
                }
            }
            return nil
        }
    }
}
