import Foundation
import HLSKitCore

/// Refuses requests that are none of http and https, and those for other hosts than are allowed. `data:` URLs, which are in
/// the playlist already, are read.
final class GuardedTransport: Transport {
    private let base: any Transport
    private let local = LocalTransport()
    private let hosts: HostList

    init(base: any Transport, hosts: HostList) {
        self.base = base
        self.hosts = hosts
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let url = URL(string: request.urlString)
        switch url?.scheme?.lowercased() {
        case "data": return local.start(request, handler: handler)
        case "http", "https":
            if let host = url?.host(), hosts.allows(host) { return base.start(request, handler: handler) }
        default: break
        }
        handler(
            .failed(
                HLSError(code: .refused, urlString: request.urlString, cause: "this service does not ask that host"),
                TransferMetrics()))
        return OverTask()
    }

    private final class OverTask: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }
}
