#if AsyncHTTPClient
import AsyncHTTPClientTransport
import HTTPRecovery
import NIOCore

/// The example of the page, compiled.
private func example(group: any EventLoopGroup) -> RecoveringClient {
    let transport = AsyncHTTPClientTransport(configuration: .init(eventLoopGroup: group, caFile: "/etc/ssl/own-ca.pem"))
    let client = RecoveringClient(transport: transport)
    return client
}
#endif
