public import HLSKitLoading
import Synchronization

/// The transport over libcurl: HTTP/1.1 and HTTP/2, all transfers on one thread.
///
/// Its transfers share connections, names, TLS sessions and cookies (in memory only). Redirects are followed hop by
/// hop, each checked before any I/O; credentials go to the origins that the request names. A transport lives until
/// its last request has ended.
public final class CurlTransport: ResourceTransport {
    /// How the transport connects. Fixed when it is made.
    package let configuration: TransportConfiguration
    private let loop: CurlLoop
    private let limit: HostLimit?

    /// The thread starts with the first request.
    public init(configuration: TransportConfiguration = .init(), clock: ContinuousClock = ContinuousClock()) {
        self.configuration = configuration
        loop = CurlLoop(configuration, clock: clock) { .shared }
        limit = configuration.maximumConnectionsPerHost.map(HostLimit.init)
        CurlLibrary.expect()
    }

    /// One with another libcurl than the program's, which is opened with the first request.
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

    /// The transport without its limit.
    private struct Direct: ResourceTransport {
        let transport: CurlTransport

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask { transport.begin(request, handler: handler) }
    }

    private func begin(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        // The task keeps the transport, and so its thread, until the caller and the loop let go of it.
        let task = QueuedTask { [self] task in loop.post(.look(task)) }
        loop.post(.start(request, task, handler))
        return task
    }
}
