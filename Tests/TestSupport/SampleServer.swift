package import Foundation
import HLSKitAsset
package import HLSKitDownload
import HLSKitEngine
import HLSKitLoading
package import HLSKitOutput
package import HLSKitPlayback
import HLSKitSelection
package import HLSKitSimulation
import HLSKitTime
import Synchronization

/// A server of the bundled sample on a virtual network of 4 Mbit/s that records its requests.
package final class SampleServer: Sendable {
    package static let url = "https://sample.invalid/master.m3u8"

    private final class Log: Sendable {
        let requests = Mutex<[SimulatedRequest]>([])
        let missing = Mutex<Set<String>>([])
    }

    package let clock = VirtualClock()
    package let folder: ScratchFolder
    package let transport: SimulatedTransport
    private let log = Log()

    package init() throws {
        folder = try ScratchFolder()
        transport = SimulatedTransport(over: try NetworkTrace(parsing: "1000,4000,20\n".utf8), clock: clock) {
            [log] request in
            log.requests.withLock { $0.append(request) }
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            guard !log.missing.withLock({ $0.contains(name) }),
                let data = try? Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.folder)/\(name)"))
            else { return .notFound }
            let type = name.hasSuffix("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp4"
            return SimulatedResponse(contentType: type, body: Array(data))
        }
    }

    package var requests: [SimulatedRequest] { log.requests.withLock { $0 } }
    package var mediaRequests: [SimulatedRequest] { requests.filter { $0.resourceClass.isMedia } }

    package func remove(_ names: String...) { log.missing.withLock { $0 = Set(names) } }

    package func restore() { log.missing.withLock { $0 = [] } }

    /// Creates a download of the smallest variant.
    package func task(_ change: (inout DownloadConfiguration) -> Void = { _ in }) async throws -> DownloadTask {
        var configuration = DownloadConfiguration(
            urlString: Self.url, loading: AssetOptions(clock: clock, transport: transport))
        configuration.quality = try QualityExpression(parsing: "180p")
        change(&configuration)
        return try await DownloadTask(configuration, folder: folder.path + "/d")
    }

    package func play(_ item: PlayerItem, seconds: Int) async throws -> [String] {
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodingThreadCount = 1
        let player = Player(configuration: configuration)
        item.preferences.endPosition = .time(.seconds(seconds))
        let output = VideoOutput()
        try item.add(output)
        let frames = Recorder<String>()
        let stream = output.frames()
        Task(executorPreference: clock) { [clock] in
            for await frame in stream { frames.append((try? frame.hash) ?? "", at: clock.now.offset) }
        }
        player.play()
        try player.replaceCurrentItem(with: item)
        let end = Duration.seconds(seconds)
        for _ in 0..<600 where item.currentTime.duration.map({ $0 < end }) ?? true {
            try await clock.sleep(for: .milliseconds(200))
        }
        await player.close()
        return frames.elements
    }
}

extension SampleServer {
    /// Downloads the sample and returns the output file, packed during the download (`meanwhile`) or afterwards.
    ///
    /// - Parameter missing: The name of a file that the server answers with 404.
    package static func packed(
        as format: OutputFormat, meanwhile: Bool, without missing: String? = nil,
        _ change: @escaping @Sendable (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> Data {
        let server = try SampleServer()
        if let missing { server.remove(missing) }
        let path = server.folder.path + "/a.\(format.rawValue)"
        try server.clock.run {
            let task = try await server.task {
                change(&$0)
                if meanwhile { $0.fileFormat = format }
            }
            _ = try await task.run()
            _ = try await task.write(to: path, format: format)
        }
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Whether two files are the same, apart from the random numbers that Matroska has for the file and its tracks.
    package static func isSame(_ one: Data, _ other: Data, as format: OutputFormat) -> Bool {
        one.count == other.count && zip(one, other).count { $0 != $1 } <= (format == .mkv ? 64 : 0)
    }
}

extension DownloadTask {
    package func resume(untilStored count: Int) async {
        resume()
        for await event in events() {
            if case .progress(let progress) = event, progress.segmentCount >= count { break }
        }
    }
}
