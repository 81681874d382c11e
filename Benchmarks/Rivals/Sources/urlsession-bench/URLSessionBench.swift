import BenchKit
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// URLSession as a contestant: one session with as many connections to a host as there are requests at a time.
///
/// On Linux it neither trusts a file of certificates nor streams a body to an asynchronous caller; it says so.
struct URLSessionContestant: Contestant {
    private let session: URLSession

    init(_ settings: Settings) throws {
        guard !settings.isStreamed, settings.caFile == nil else { throw Spoilt("URLSession cannot do that") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = settings.mostAtATime
        configuration.timeoutIntervalForRequest = 600
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    func call(_ errand: Errand) throws -> Call {
        guard let url = URL(string: errand.url) else { throw Spoilt("no URL") }
        var prepared = URLRequest(url: url)
        for (name, value) in Errand.fields { prepared.setValue(value, forHTTPHeaderField: name) }
        if let body = errand.body {
            prepared.httpMethod = "POST"
            prepared.httpBody = Data(body.utf8)
        }
        let request = prepared
        return { [session] in
            let (data, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
                throw Spoilt("another status than 200")
            }
            return data.count
        }
    }

    func shutdown() {
        session.invalidateAndCancel()
    }
}

@main
enum URLSessionBench {
    static func main() async {
        await Program.main(URLSessionContestant.self)
    }
}
