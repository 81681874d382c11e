extension AuthSandbox {
    /// Issues a token of Facebook's, for a test that begins with one.
    ///
    /// - Parameters:
    ///   - user: A name or an identifier.
    ///   - behaviour: How it behaves.
    ///   - page: The id of a page whose token it is; nil for a token of the person.
    ///   - lifetime: How long it lives; nil for what the settings say, and for ever where it is a page's.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func facebookToken(
        for user: String,
        _ behaviour: SandboxFacebookBehaviour = .good,
        page: String? = nil,
        lifetime: Duration? = nil
    ) throws(SandboxError) -> String {
        try with(FacebookWorld.self) { world, context throws(SandboxError) in
            try world.issueToken(
                for: user,
                behaviour: behaviour,
                page: page,
                lifetime: lifetime.map { Seconds($0).milliseconds },
                settings: context.settings.facebook,
                now: context.now
            )
        }
    }

    /// The id of a person at Facebook; nil for somebody who is not known.
    ///
    /// - Parameter user: A name or an identifier.
    public func facebookID(of user: String) -> String? {
        world(FacebookWorld.self).person(named: user)?.id
    }

    /// Changes how all tokens of a person behave.
    ///
    /// - Parameters:
    ///   - behaviour: How they behave from now on.
    ///   - user: A name or an identifier.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func setFacebookTokens(_ behaviour: SandboxFacebookBehaviour, of user: String) throws(SandboxError) {
        try with(FacebookWorld.self) { world, _ throws(SandboxError) in _ = try world.setBehaviour(behaviour, of: user)
        }
    }

    /// Lets a person settle at Facebook's site what is to be settled: their tokens work again then.
    ///
    /// - Parameter user: A name or an identifier.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func visitFacebook(as user: String) throws(SandboxError) {
        try with(FacebookWorld.self) { world, _ throws(SandboxError) in _ = try world.visit(user) }
    }

    /// Decides about the newest device that waits at Facebook.
    ///
    /// - Parameter user: Who signs in on it; nil refuses it.
    /// - Throws: ``SandboxError`` when there is no such device or person.
    public func decideFacebookDevice(as user: String?) throws(SandboxError) {
        try with(FacebookWorld.self) { world, context throws(SandboxError) in
            _ = try world.decide(userCode: nil, user: user, now: context.now)
        }
    }

    /// Begins a block of Facebook's, which each call makes longer that comes after the first has been told of it.
    ///
    /// - Parameters:
    ///   - code: The limit that was reached: 4 for the app, 17 for a person, 80000 and more for ad accounts.
    ///   - duration: How long it lasts.
    ///   - user: Whose calls it holds; nil for everybody's.
    ///   - account: Of which account or page, such as `act_1`; nil for all.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func blockFacebook(
        _ code: Int64 = 4,
        for duration: Duration,
        user: String? = nil,
        account: String? = nil
    ) throws(SandboxError) {
        try with(FacebookWorld.self) { world, context throws(SandboxError) in
            let until = context.now + Seconds(duration).milliseconds
            try world.block(code: code, user: user, account: account, until: until)
        }
    }

    /// Changes what a person has said about a permission.
    ///
    /// - Parameters:
    ///   - permission: Its name.
    ///   - user: A name or an identifier.
    ///   - isGranted: Whether they grant it, or have declined it.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func setFacebookPermission(_ permission: String, of user: String, isGranted: Bool) throws(SandboxError) {
        try with(FacebookWorld.self) { world, _ throws(SandboxError) in
            let id = try world.known(user).id
            world.people[id]?.set(permission, isGranted ? "granted" : "declined")
        }
    }

    /// Lets a customer write to a number at WhatsApp, which may answer for a day then.
    ///
    /// - Parameters:
    ///   - customer: The customer's number.
    ///   - phone: The id of the number that they write to.
    public func writeAtWhatsApp(from customer: String, to phone: String) {
        withWorld { $0.facebook.receive(from: customer, at: phone, now: $0.context.now) }
    }

    /// Lets the next items of batches be answered with `null`, as those that were not finished in time.
    ///
    /// - Parameter count: How many; 0 or more.
    public func leaveFacebookItems(_ count: Int64) {
        withWorld { $0.facebook.unfinishedItems = max(0, count) }
    }

    /// What somebody has posted at Facebook, oldest first.
    ///
    /// - Parameter user: A name or an identifier.
    public func facebookPosts(of user: String) -> [String] {
        world(FacebookWorld.self).person(named: user)?.posts.map(\.message) ?? []
    }

    /// What has happened at Facebook.
    public var facebookCounters: SandboxFacebookCounters {
        world(FacebookWorld.self).counters
    }
}
