import Foundation
import HLSKitCore
import HLSKitObservability

struct StreamProbe: Sendable {
    struct TooLate: Error {}

    var transport: any ResourceTransport
    var clock: any Clock<Duration> = ContinuousClock()
    var deadline: Duration
    var metrics: PlayerMetrics?
    var tracing: PlayerTracing?

    func probe(_ url: String) async throws -> ProbeReport {
        try await withThrowingTaskGroup(of: ProbeReport.self) { group in
            group.addTask { try await look(at: url) }
            group.addTask { [clock, deadline] in
                try await clock.sleep(for: deadline)
                throw TooLate()
            }
            defer { group.cancelAll() }
            guard let report = try await group.next() else { throw CancellationError() }
            return report
        }
    }

    private func look(at url: String) async throws -> ProbeReport {
        var options = AssetOptions()
        options.transport = transport
        options.clock = clock
        let asset = Asset(urlString: url, options: options)
        let (variants, duration, tracks) = try await asset.load(.variants, .duration, .tracks)
        var report = ProbeReport(
            url: ProbeReport.shown(url), live: !duration.isNumeric,
            duration: duration.isNumeric ? duration.seconds : nil, variants: variants.map(Self.variant), tracks: [],
            requests: 0, bytes: 0, errors: [])
        for track in tracks {
            let (formats, language) = try await track.load(.formatDescriptions, .languageCode)
            report.tracks.append(
                ProbeReport.Track(
                    type: "\(track.mediaType)", codec: formats.first?.codec.rawValue ?? "unknown",
                    language: language ?? track.rendition?.language, name: track.rendition?.name))
        }
        // The player does not use the asset, which has loaded playlists already. The time to the first frame starts at
        // the first request.
        try await play(url, hasVideo: tracks.contains { $0.mediaType == .video }, &report)
        return report
    }

    private static func variant(_ variant: AssetVariant) -> ProbeReport.Variant {
        let video = variant.videoAttributes
        return ProbeReport.Variant(
            peakBitRate: variant.peakBitRate, averageBitRate: variant.averageBitRate,
            width: video?.presentationSize?.width, height: video?.presentationSize?.height,
            frameRate: video?.nominalFrameRate, codecs: variant.codecs,
            ineligible: variant.ineligibilityReasons.map { "\($0)" })
    }

    private func play(_ url: String, hasVideo: Bool, _ report: inout ProbeReport) async throws {
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let item = PlayerItem(urlString: url)
        let output = VideoOutput()
        if hasVideo { try item.add(output) }
        let frames = output.frames()
        let events = item.events()
        let clock = player.sourceClock
        let began = clock.now
        player.play()
        try player.replaceCurrentItem(with: item)
        metrics?.attach(to: player)
        tracing?.attach(to: player)
        let frame = await withTaskGroup(of: Duration?.self) { group in
            if hasVideo {
                group.addTask {
                    for await _ in frames { return clock.now - began }
                    return nil
                }
            }
            // Without video, wait until playback advances. With video, only a failure ends the wait.
            group.addTask {
                for await change in player.states() where change == .failed || (change == .playing && !hasVideo) {
                    return nil
                }
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        let state = player.state
        let error = item.error
        await player.close()
        for await event in events {
            if case .recoverableError(let error) = event.kind { report.errors.append(ProbeReport.Failure(error)) }
        }
        if let error { throw error }
        try Task.checkCancellation()
        report.firstPicture = frame.map(Self.seconds)
        report.startup = state.statistics.startupTime.map(Self.seconds)
        report.requests = state.statistics.numberOfRequests
        report.bytes = state.statistics.receivedByteCount
    }

    private static func seconds(_ duration: Duration) -> Double {
        (duration / .milliseconds(1)).rounded() / 1000
    }
}

extension Player {
    fileprivate enum ProbeState: Sendable { case waiting, playing, failed }

    fileprivate func states() -> AsyncStream<ProbeState> {
        let (stream, continuation) = AsyncStream.makeStream(of: ProbeState.self)
        let events = events()
        let task = Task { [weak self] in
            if self?.currentItem?.status == .failed { continuation.yield(.failed) }
            if self?.timeControlStatus == .playing { continuation.yield(.playing) }
            for await event in events {
                switch event.kind {
                case .itemStatusChanged(.failed): continuation.yield(.failed)
                case .timeControl(let change): continuation.yield(change.new == .playing ? .playing : .waiting)
                default: break
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
