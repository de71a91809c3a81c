public import HLSKitLoading
import Synchronization

/// A transport that uses libcurl: HTTP/1.1 and HTTP/2, with all transfers on one thread.
///
/// The transfers share connections, resolved names, TLS sessions and cookies (in memory only). The transport follows
/// redirects hop by hop and checks each one before any I/O. It sends credentials only to the origins that the request
/// names. A transport lives until its last request has ended.
public final class CurlTransport: ResourceTransport {
    package let configuration: TransportConfiguration
    private let loop: CurlLoop
    private let limit: HostLimit?

    /// Creates a transport.
    ///
    /// The thread of the transport starts with the first request.
    public init(configuration: TransportConfiguration = .init(), clock: ContinuousClock = ContinuousClock()) {
        self.configuration = configuration
        loop = CurlLoop(configuration, clock: clock) { .shared }
        limit = configuration.maximumConnectionsPerHost.map(HostLimit.init)
        CurlLibrary.expect()
    }

    /// Creates a transport with another libcurl than the process's, which is opened with the first request.
    init(
        configuration: TransportConfiguration, clock: ContinuousClock = ContinuousClock(),
        library: @escaping @Sendable () -> CurlLibrary
    ) {
        self.configuration = configuration
        loop = CurlLoop(configuration, clock: clock, openLibrary: library)
        limit = nil
    }

    deinit { loop.post(.stop) }

    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        limit?.start(request, by: Direct(transport: self), handler: handler) ?? begin(request, handler: handler)
    }

    private struct Direct: ResourceTransport {
        let transport: CurlTransport

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask { transport.begin(request, handler: handler) }
    }

    private func begin(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        // The task keeps the transport and its thread alive until both the caller and the loop release it.
        let task = QueuedTask { [self] task in loop.post(.look(task)) }
        loop.post(.start(request, task, handler))
        return task
    }
}
