import HTTPRecovery

// What a test does behind the back of the app.
extension FacebookWorld {
    static let controls: [SandboxControl] = [
        view("GET facebook", "Facebook's counters, everybody's state, blocks and devices that wait") {
            $0.view(now: $1.now)
        },
        control(
            "POST facebook/issue",
            IssueOrder.self,
            """
            issue a token: {user, behaviour?: good|removed|checkpoint|password_changed|expired|unconfirmed|logged_out|\
            no_role|inactive, page?: id, expires_in?: seconds}; answered with {access_token, user_id}
            """
        ) { world, order, context throws(SandboxError) in
            let token = try world.issueToken(
                for: order.user,
                behaviour: order.behaviour ?? .good,
                page: order.page,
                lifetime: order.expiresIn?.milliseconds,
                settings: context.settings.facebook,
                now: context.now
            )
            return ["access_token": .string(token), "user_id": .string(try world.known(order.user).id)]
        },
        control(
            "POST facebook/behaviour",
            BehaviourOrder.self,
            "change how a person's tokens behave: {user, behaviour}; answered with {changed}"
        ) { world, order, _ throws(SandboxError) in
            ["changed": .int(try world.setBehaviour(order.behaviour, of: order.user))]
        },
        control(
            "POST facebook/visit",
            NamedUser.self,
            "a person settles at the site what is to be settled: {user}; {settled}"
        ) { world, order, _ throws(SandboxError) in ["settled": .int(try world.visit(order.user))] },
        control(
            "POST facebook/device",
            OAuthWorld.DeviceDecision.self,
            "decide about a device: {user_code?: else the newest that waits, decision?: approve|deny, user}"
        ) { world, decision, context throws(SandboxError) in
            let isApproved = decision.word == "approve"
            if isApproved, decision.user == nil { throw SandboxError(.invalidInput, "user is missing") }
            let user = isApproved ? decision.user : nil
            let decided = try world.decide(userCode: decision.userCode, user: user, now: context.now)
            return ["user_code": .string(decided), "decision": .string(decision.word)]
        },
        control(
            "POST facebook/code",
            CodeOrder.self,
            "a code of the login dialog: {user, redirect_uri, scope?}; {code}"
        ) { world, order, context throws(SandboxError) in
            let scopes = (order.scope ?? "public_profile").split { $0 == "," || $0 == " " }.map(String.init)
            let person = try world.known(order.user)
            let settings = context.settings.facebook
            return ["code": .string(world.makeCode(person.id, order.redirectURI, scopes, settings, now: context.now))]
        },
        control("POST facebook/password", NamedUser.self, "a person changes their password: {user}") {
            world,
            order,
            context throws(SandboxError) in
            world.people[try world.known(order.user).id]?.passwordChangedAt = context.now
            return ["changed": .string(order.user)]
        },
        control("POST facebook/remove", NamedUser.self, "a person removes the app: {user}") {
            world,
            order,
            context throws(SandboxError) in
            world.people[try world.known(order.user).id]?.appRemovedAt = context.now
            return ["removed": .string(order.user)]
        },
        control(
            "POST facebook/permission",
            PermissionOrder.self,
            "a permission changes: {user, permission, status: granted|declined|expired}"
        ) { world, order, _ throws(SandboxError) in
            let status = order.status ?? "granted"
            world.people[try world.known(order.user).id]?.set(order.permission, status)
            return ["permission": .string(order.permission), "status": .string(status)]
        },
        control(
            "POST facebook/block",
            BlockOrder.self,
            """
            a limit is reached: {code?: 4|17|32|613|80000…80014, seconds, user?, account?: act_1 or a page's id}; each call \
            meanwhile makes it longer
            """
        ) { world, order, context throws(SandboxError) in
            let (code, time) = (order.code ?? 4, order.seconds.milliseconds)
            try world.block(code: code, user: order.user, account: order.account, until: context.now + time)
            return ["code": .int(code), "seconds": .seconds(time)]
        },
        control("POST facebook/received", Received.self, "a customer writes to a number at WhatsApp: {from, to}") {
            world,
            received,
            context in
            world.receive(from: received.from, at: received.to, now: context.now)
            return ["from": .string(received.from), "to": .string(received.to)]
        },
        control(
            "POST facebook/unfinished",
            CountOrder.self,
            "the next items of batches are answered with null: {count}"
        ) { world, order, _ in
            world.unfinishedItems = order.count ?? 1
            return ["count": .int(world.unfinishedItems)]
        },
    ]

    private struct IssueOrder: SandboxInput {
        var user: String
        var behaviour: SandboxFacebookBehaviour?
        var page: String?
        var expiresIn: Seconds?
    }

    private struct BehaviourOrder: SandboxInput {
        var user: String
        var behaviour: SandboxFacebookBehaviour
    }

    private struct CodeOrder: SandboxInput {
        var user: String
        var redirectURI: String
        var scope: String?

        enum CodingKeys: String, CodingKey {
            case user
            case redirectURI = "redirect_uri"
            case scope
        }
    }

    private struct PermissionOrder: SandboxInput {
        var user: String
        var permission: String
        var status: String?

        static let words = ["status": ["granted", "declined", "expired"]]
    }

    private struct BlockOrder: SandboxInput {
        var code: Int64?
        var seconds: Seconds
        var user: String?
        var account: String?

        static let ranges: [String: ClosedRange<Int64>] = ["code": 0...1_000_000_000]
    }

    private struct Received: SandboxInput {
        var from: String
        var to: String
    }

    private struct CountOrder: SandboxInput {
        var count: Int64?

        static let ranges: [String: ClosedRange<Int64>] = ["count": 0...1_000_000]
    }
}
