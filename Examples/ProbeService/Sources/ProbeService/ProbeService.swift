import Foundation
import HLSKitCore
import HLSKitObservability
import Hummingbird
import Logging
import ServiceLifecycle

/// `GET /probe?url=…` returns a description of a stream and the time to its first frame. SIGTERM and SIGINT shut the
/// service down in order.
@main struct ProbeService {
    static func main() async throws {
        let options: ProbeOptions
        do {
            options = try ProbeOptions(Array(CommandLine.arguments.dropFirst()))
        } catch {
            print(error)
            exit(64)
        }
        // A service with a metrics backend and a tracer sets them up before this.
        let probe = StreamProbe(
            transport: options.makeTransport(), deadline: options.deadline, metrics: PlayerMetrics(),
            tracing: PlayerTracing())
        let logger = Logger(label: "ProbeService")
        // Running probes are answered. None takes longer than its deadline.
        var configuration = ServiceGroupConfiguration(
            services: [application(options, probe, logger: logger)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = options.deadline + .seconds(5)
        try await ServiceGroup(configuration: configuration).run()
    }

    static func application(
        _ options: ProbeOptions, _ probe: StreamProbe, logger: Logger
    ) -> some ApplicationProtocol {
        let router = Router()
        router.add(middleware: TracingMiddleware())
        router.add(middleware: MetricsMiddleware())
        ProbeRoutes(options, probe).add(to: router)
        return Application(
            router: router,
            configuration: ApplicationConfiguration(
                address: .hostname(options.address, port: options.port), serverName: "ProbeService"),
            logger: logger)
    }
}
