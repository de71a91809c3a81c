import HLSGetKit
import HLSKitCore

/// Plays one stream while it is watched and sends events to its ``StreamHealth``, which decides on the state.
struct StreamWatcher: Sendable {
    static let interval = Duration.seconds(1)
    /// The delays before restarts. They come after the player's own retries, which last 20 seconds or more.
    private static let restartDelays: [Duration] = [1, 2, 5, 10, 20, 30].map { .seconds($0) }

    let stream: WatchedStream
    let configuration: PlayerConfiguration
    var quality: QualityExpression?
    var decodes = false
    var interval = Self.interval

    private enum End: Sendable {
        case ended
        case failed(HLSError)
    }

    nonisolated(nonsending) func run() async {
        let player = Player(configuration: configuration)
        var restarts = RestartCount(name: stream.entry.name)
        while !Task.isCancelled {
            // A failed item cannot recover, so use a new one.
            let item = PlayerItem(urlString: stream.entry.url)
            item.quality = quality
            let senses = decodes ? MediaProbes(of: item) : nil
            let events = item.events()
            let metrics = item.allMetrics()
            stream.handle(.began)
            let end: End?
            do {
                try player.replaceCurrentItem(with: item)
                player.play()
                end = await follow(item, on: player, events, metrics, senses)
            } catch {
                end = .failed(error)
            }
            guard let end, !Task.isCancelled else { break }
            stream.handle(.sample(sample(of: item, item.latestState)))
            let delay: Duration
            switch end {
            case .ended:
                stream.handle(.ended)
                delay = .seconds(1)
            case .failed(let error):
                stream.handle(.failed(FailureName(error)))
                let played = item.latestState.statistics.durationWatched
                delay = restarts.delay(
                    Self.restartDelays, permanentDelay: .seconds(30), spread: 0.2, isPermanent: error.isPermanent,
                    hasRecovered: played >= .seconds(60))
            }
            guard await wait(delay) else { break }
        }
        await player.close()
    }

    private nonisolated(nonsending) func wait(_ delay: Duration) async -> Bool {
        let end = stream.clock.now + delay
        while stream.clock.now < end {
            do { try await stream.clock.sleep(until: min(end, stream.clock.now + interval)) } catch { return false }
            stream.advance()
        }
        return true
    }

    private nonisolated(nonsending) func follow(
        _ item: PlayerItem, on player: Player, _ events: AsyncStream<PlayerEvent>,
        _ metrics: AsyncStream<any MetricEvent>, _ senses: MediaProbes?
    ) async -> End? {
        await withTaskGroup(of: End?.self) { group in
            group.addTask { await self.follow(events, of: item) }
            group.addTask {
                for await event in metrics { self.note(event) }
                return nil
            }
            group.addTask {
                var senses = senses
                while !Task.isCancelled {
                    do { try await self.stream.clock.sleep(for: self.interval) } catch { break }
                    let state = player.state
                    self.note(state.timeControlStatus)
                    self.stream.handle(.sample(self.sample(of: item, state)))
                    if let findings = senses?.look(at: item, state) { self.stream.handle(findings) }
                }
                return nil
            }
            group.addTask {
                await self.lookAtLists()
                return nil
            }
            // An item's metrics end with it, but its events may arrive later.
            for await end in group {
                guard let end else { continue }
                group.cancelAll()
                return end
            }
            return nil
        }
    }

    /// Checks all playlists in turn, because the unused ones may disappear unnoticed.
    private nonisolated(nonsending) func lookAtLists() async {
        let loader = PlaylistLoader(urlString: stream.entry.url, configuration: configuration)
        var rounds = ListRounds()
        var options = PlaylistParser.Options()
        var source = stream.entry.url
        var isFirst = true
        while !Task.isCancelled {
            do { try await stream.clock.sleep(for: ListRounds.interval) } catch { return }
            if isFirst {
                // The player reports an unavailable stream.
                guard let playlist = try? await loader.load() else { continue }
                guard case .multivariant(let playlist) = playlist else { return }
                rounds.take(playlist)
                options.importedVariables = playlist.variables
                source = playlist.url
                isFirst = false
            }
            guard let url = rounds.turn() else { return }
            let result: Result<Playlist, HLSError>
            do { result = .success(try await loader.load(url, namedBy: source, options)) } catch {
                result = .failure(error)
            }
            guard !Task.isCancelled else { return }
            let rules = stream.snapshot.rules
            stream.handle(.list(url, rounds.note(url, result, staleFactor: rules.staleFactor, at: stream.now)))
        }
    }

    private nonisolated(nonsending) func follow(_ events: AsyncStream<PlayerEvent>, of item: PlayerItem) async -> End? {
        for await event in events {
            switch event.kind {
            case .playlistLoaded(let load):
                guard let extent = load.extent else { continue }
                stream.handle(.playlist(extent, url: load.urlString))
            case .recoverableError(let error): stream.handle(.error(FailureName(error)))
            case .segmentSkipped(let segments), .segmentsMissed(let segments): stream.handle(.lost(segments.cause))
            case .didPlayToEnd: return .ended
            case .itemStatusChanged(.failed):
                return .failed(item.error ?? HLSError(code: .internal, cause: "playback failed"))
            default: break
            }
        }
        return Task.isCancelled ? nil : .failed(HLSError(code: .internal, cause: "the player has left the stream"))
    }

    /// Notes the player's status. Its events belong to the player, not the item; the check of each second finds the
    /// same.
    private func note(_ status: TimeControlStatus) {
        switch status {
        case .playing: stream.handle(.playing)
        case .waitingToPlayAtSpecifiedRate: stream.handle(.waiting)
        default: break
        }
    }

    private func note(_ event: any MetricEvent) {
        let request: MetricRequest?
        switch event {
        case let event as MetricHLSPlaylistRequestEvent: request = event.request
        case let event as MetricHLSMediaSegmentRequestEvent: request = event.request
        default: request = nil
        }
        guard let request, let expires = request.transfer?.certificateExpirationDate else { return }
        let host = URLOrigin(of: request.urlString).map { "\($0)" } ?? ""
        stream.handle(.certificate(host: host, expires: expires, remaining: expires - event.context.date))
    }

    private func sample(of item: PlayerItem, _ state: PlayerState) -> StreamSample {
        var sample = StreamSample(
            state, audioTrackCount: item.mediaSelectionGroup(for: .audible)?.options.count ?? 0,
            captionTrackCount: item.mediaSelectionGroup(for: .legible)?.options.count ?? 0)
        // A media playlist declares no variant, but its media has a size.
        if sample.variant.isEmpty, item.presentationSize.height > 0 {
            sample.variant = "\(item.presentationSize.height)p"
        }
        return sample
    }
}

struct MediaProbes: Sendable {
    private let video = VideoOutput()
    private let audio = AudioOutput()
    private var frameProbe = FrameProbe()
    private var silenceProbe = SilenceProbe()

    /// Returns `nil` if the item accepts no more outputs.
    init?(of item: PlayerItem) {
        do {
            try item.add(video)
            try item.add(audio)
        } catch {
            return nil
        }
    }

    /// Examines the current video and audio. Returns `nil` while playback is not advancing.
    mutating func look(at item: PlayerItem, _ state: PlayerState) -> StreamHealth.Event? {
        guard state.timebaseRate > 0 else { return nil }
        let frame = try? video.copyFrame(for: item.currentTime)?.frame
        let grid = frame.flatMap { LumaGrid($0) }
        // An unreadable frame says nothing; without a new frame the last one is still shown.
        if frame == nil || grid != nil { frameProbe.note(grid, at: state.statistics.durationWatched) }
        while let buffer = audio.copyNextBuffer() {
            guard case .float32(let samples) = buffer.samples, let time = buffer.itemTimeRange.start.finiteSeconds
            else { continue }
            silenceProbe.note(samples, at: .seconds(time))
        }
        return .senses(isBlack: frameProbe.isBlack, isFrozen: frameProbe.isFrozen, isSilent: silenceProbe.isSilent)
    }
}

extension FailureName {
    /// Uses the most specific cause, which is the response's status if there is an HTTP error.
    ///
    /// Otherwise, it is the transport's error, or the player's error if there is no transport error.
    init(_ error: HLSError) {
        code = error.nameOfCause
        text = Self.text(of: error)
    }

    private static func text(of error: HLSError) -> String {
        var text = error.cause
        if let detail = error.detail { text += " (\(detail))" }
        return TerminalText.escaped(String(text.prefix(300)))
    }
}
