import HLSKitCore
import Synchronization

final class CountingTransport: ResourceTransport {
    private let base: any ResourceTransport
    private let classes = Mutex<[ResourceClass]>([])

    init(_ base: any ResourceTransport) { self.base = base }

    var requests: [ResourceClass] { classes.withLock(\.self) }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        classes.withLock { $0.append(request.resourceClass) }
        return base.start(request, handler: handler)
    }
}
