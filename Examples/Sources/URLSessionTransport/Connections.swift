import Foundation
import Locking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of Foundation's, and which attempt each of its tasks belongs to.
///
/// Nothing is decided here that the client decides: no redirect is followed, no cookie and no answer kept, and no time
/// runs but the client's.
final class Connections: NSObject, URLSessionDataDelegate, Sendable {
    private let attempts = Locked<[Int: Attempt]>([:])
    private let session = Locked<URLSession?>(nil)
    private let isForOne: Bool

    init(isForOne: Bool = false) {
        self.isForOne = isForOne
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = 1 << 16
        // The client ends what takes too long; a limit of its own would say less about it.
        configuration.timeoutIntervalForRequest = 86_400
        configuration.timeoutIntervalForResource = 86_400
        session.withLock { $0 = URLSession(configuration: configuration, delegate: self, delegateQueue: nil) }
    }

    /// Starts a transfer.
    func perform(_ request: URLRequest, for attempt: Attempt) {
        // A session that was closed in between would end the program.
        let begun = session.withLock { session in session.map { ($0, $0.dataTask(with: request)) } }
        guard let (session, task) = begun else { return attempt.completed(URLError(.cancelled)) }
        attempts.withLock { $0[task.taskIdentifier] = attempt }
        task.resume()
        attempt.began { task.cancel() }
        if isForOne { session.finishTasksAndInvalidate() }
    }

    /// Ends all transfers; a session holds on to its delegate until it is closed.
    func close() {
        let closed = session.withLock { session in
            defer { session = nil }
            return session
        }
        closed?.invalidateAndCancel()
    }

    // MARK: What the session tells

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        attempt(of: dataTask)?.received(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        attempt(of: dataTask)?.received(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        attempts.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.completed(error)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    private func attempt(of task: URLSessionTask) -> Attempt? {
        attempts.withLock { $0[task.taskIdentifier] }
    }
}
