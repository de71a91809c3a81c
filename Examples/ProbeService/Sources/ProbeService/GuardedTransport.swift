import Foundation
import HLSKitCore
import Synchronization

/// A transport that refuses unsafe requests.
///
/// It refuses URLs other than http and https, hosts that are not allowed, and responses for which an allowed host has
/// redirected to another host. It loads `data:` URLs, because their data is in the playlist already.
final class GuardedTransport: ResourceTransport {
    private let base: any ResourceTransport
    private let local = LocalTransport()
    private let hosts: HostList

    init(base: any ResourceTransport, hosts: HostList) {
        self.base = base
        self.hosts = hosts
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let scheme = URL(string: request.urlString)?.scheme?.lowercased()
        if scheme == "data" { return local.start(request, handler: handler) }
        guard scheme == "http" || scheme == "https", allows(request.urlString) else {
            handler(.failed(Self.refusal(of: request.urlString), TransferMetrics()))
            return OverTask()
        }
        let passage = Passage()
        let task = base.start(request) { [self] event in
            guard !passage.isClosed else { return }
            if case .response(let response) = event, !allows(response.urlString) {
                passage.close()
                return handler(.failed(Self.refusal(of: response.urlString), TransferMetrics()))
            }
            handler(event)
        }
        passage.lead(to: task)
        return task
    }

    private func allows(_ url: String) -> Bool { URL(string: url)?.host().map(hosts.allows) ?? false }

    private static func refusal(of url: String) -> HLSError {
        HLSError(code: .refused, urlString: url, cause: "this service does not ask that host")
    }

    /// Passes the response on until it is closed. The response may arrive before the task is known.
    private final class Passage: Sendable {
        private let state = Mutex<(isClosed: Bool, task: (any TransportTask)?)>((false, nil))

        var isClosed: Bool { state.withLock(\.isClosed) }

        func lead(to task: any TransportTask) {
            let isClosed = state.withLock { state in
                state.task = task
                return state.isClosed
            }
            if isClosed { task.cancel() }
        }

        func close() {
            let task = state.withLock { state in
                state.isClosed = true
                return state.task
            }
            task?.cancel()
        }
    }

    private final class OverTask: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }
}
