import Foundation
import HLSKitCore
import Logging
import ServiceLifecycle

/// Removes old files every ten minutes. It touches only files that the recorder has written.
struct Retention: Service {
    static let interval = Duration.seconds(600)

    var folder: String
    var channels: [String]
    var age: Duration
    var clock = SourceClock.host
    var now: @Sendable () -> Date = { Date() }
    var logger: Logger?

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                sweep()
                try await clock.sleep(for: Self.interval)
            }
        }
    }

    func sweep() {
        let files = FileManager.default
        let oldest = now().addingTimeInterval(-Double(age.components.seconds))
        for channel in channels {
            let root = "\(folder)/\(channel)"
            for day in (try? files.contentsOfDirectory(atPath: root)) ?? [] {
                let names = (try? files.contentsOfDirectory(atPath: "\(root)/\(day)")) ?? []
                let old = names.filter { name in FileNames.date(ofFile: "\(day)/\(name)").map { $0 < oldest } ?? false }
                for name in old {
                    do {
                        try files.removeItem(atPath: "\(root)/\(day)/\(name)")
                        logger?.info("a file is too old", metadata: ["path": "\(root)/\(day)/\(name)"])
                    } catch {
                        logger?.warning("a file cannot be removed", metadata: ["cause": "\(error)"])
                    }
                }
                if !old.isEmpty, old.count == names.count { rmdir("\(root)/\(day)") }
            }
        }
    }
}
