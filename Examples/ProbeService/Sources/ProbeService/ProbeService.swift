import Foundation
import HLSKitCore
import HLSKitObservability
import Hummingbird
import Logging
import ServiceLifecycle

/// `GET /probe?url=…` answers what a stream is made of and how long its first picture takes. Ends in order with SIGTERM and SIGINT.
@main struct ProbeService {
    static func main() async throws {
        let options: ProbeOptions
        do {
            options = try ProbeOptions(Array(CommandLine.arguments.dropFirst()))
        } catch {
            print(error)
            exit(64)
        }
        // A metrics backend and a tracer, where there are any, are set up before this.
        let probe = StreamProbe(
            transport: options.makeTransport(), deadline: options.deadline, metrics: PlayerMetrics(),
            tracing: PlayerTracing())
        let logger = Logger(label: "ProbeService")
        // Probes that are under way are answered; none takes longer than its deadline.
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
