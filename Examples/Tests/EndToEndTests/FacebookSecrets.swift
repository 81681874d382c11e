@testable import AuthSandbox

extension AuthSandbox {
    /// Whatever opens something at Facebook now: tokens, codes, devices, and what the app proves itself with.
    var facebookSecrets: [String] {
        withWorld { world in
            let settings = world.settings.facebook
            let own = [settings.appSecret, settings.clientToken]
            return own + Array(world.facebook.tokens.keys) + Array(world.facebook.codes.keys)
                + Array(world.facebook.devices.keys)
        }
    }
}
