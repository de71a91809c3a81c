import Foundation
import HLSKitCore
import HLSKitObservability
import Logging
import ServiceLifecycle

/// Records channels to disk in hourly files until SIGTERM or SIGINT arrives, then finishes the last files.
@main struct ChannelRecorder {
    static func main() async throws {
        let options: RecorderOptions
        do {
            options = try RecorderOptions(Array(CommandLine.arguments.dropFirst()))
        } catch {
            print(error)
            exit(64)
        }
        let logger = Logger(label: "ChannelRecorder")
        try await ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: try services(options, logger), gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        ).run()
    }

    static func services(_ options: RecorderOptions, _ logger: Logger) throws -> [any Service] {
        var configuration = PlayerGroup.Configuration()
        configuration.logger = logger
        var recorder = Recorder(options: options, logger: logger)
        recorder.configuration.logger = logger
        let group = PlayerGroup(configuration: configuration)
        for channel in options.channels { try group.add(recorder.member(for: channel)) }
        guard let age = options.age else { return [group] }
        return [
            group,
            Retention(folder: options.folder, channels: options.channels.map(\.name), age: age, logger: logger),
        ]
    }
}
