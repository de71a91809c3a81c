import Foundation
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitTime

/// A user who performs an app's calls on a player in random order. Equal seeds give equal calls.
struct RandomUser {
    let name: String
    let stage: ControlStage
    var random: SplitMix64

    init(_ number: Int, seed: UInt64, stage: ControlStage) {
        name = "user \(number)"
        self.stage = stage
        random = SplitMix64(seed: seed &* 1000 &+ UInt64(number))
    }

    mutating func pause() -> Duration { .milliseconds([0, 1, 40, 300, 900, 2500, 6000][below(7)] + below(1000)) }

    mutating func act() {
        switch below(100) {
        case 0..<26: controlTime()
        case 26..<44: seek()
        case 44..<58: changeItems()
        case 58..<68: changeOutputs()
        case 68..<78: select()
        case 78..<88: setWishes()
        case 88..<94: observe()
        case 94..<98: read()
        default: changePlayer()
        }
        stage.check()
    }

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
    mutating func some<Element>(of elements: [Element]) -> Element? { elements.isEmpty ? nil : one(of: elements) }

    func note(_ text: String) { stage.note("\(name): \(text)") }

    /// Makes a call that must not change playback.
    func unchanged(_ player: Player, _ what: String, _ call: () -> Void) {
        let before = player.state
        call()
        let after = player.state
        note(what)
        guard stage.isAlone, before.timeControlStatus != .waitingToPlayAtSpecifiedRate else { return }
        if before.timeControlStatus != after.timeControlStatus || before.timebaseRate != after.timebaseRate
            || before.rate != after.rate || abs(before.currentTime.seconds - after.currentTime.seconds) > 0.001
        {
            stage.fail(
                "\(what) has changed \(before.timeControlStatus) at \(before.timebaseRate), \(before.currentTime.seconds), "
                    + "to \(after.timeControlStatus) at \(after.timebaseRate), \(after.currentTime.seconds)")
        }
    }

    // MARK: Time control

    private static let rates: [Float] = [0, 0.5, 1, 1, 1.25, 2, 2, 3, 16, -1, -0.5, -4, .nan, .infinity, 1e30]

    private mutating func controlTime() {
        let player = stage.player
        switch below(16) {
        case 0..<6:
            player.play()
            note("play")
            require(
                player.rate == player.defaultRate || player.rate == 0 || isAtEdge(player, wanting: player.defaultRate),
                "rate \(player.rate) after play")
        case 6..<8:
            player.pause()
            note("pause")
            let state = player.state
            require(state.rate == 0 && state.timebaseRate == 0 && state.timeControlStatus == .paused, "not paused")
        case 8..<10:
            let (rate, before) = (one(of: Self.rates), player.rate)
            player.rate = rate
            note("rate \(rate)")
            let after = player.rate
            require(
                after == (rate.isFinite ? rate : before) || after == 0 || isAtEdge(player, wanting: rate),
                "rate \(after) after \(rate)")
        case 10..<12:
            let rate = one(of: Self.rates)
            player.playImmediately(atRate: rate)
            note("play immediately at \(rate)")
        case 12:
            player.defaultRate = one(of: [0.5, 1, 1, 1, 2, 0])
            note("default rate \(player.defaultRate)")
        case 13:
            let waits = below(3) > 0
            player.automaticallyWaitsToMinimizeStalling = waits
            note("waits \(waits)")
        case 14: setRateAtHostTime(player)
        default:
            let action = one(of: [ActionAtItemEnd.advance, .advance, .pause, .none])
            player.actionAtItemEnd = action
            note("at end \(action)")
            let expected = action == .advance && !(player is QueuePlayer) ? .pause : action
            require(player.actionAtItemEnd == expected, "at end \(player.actionAtItemEnd)")
        }
    }

    private func require(_ isTrue: Bool, _ text: @autoclosure () -> String) {
        if stage.isAlone, !isTrue { stage.fail(text()) }
    }

    /// Returns whether the player is at the edge of a live stream, where it plays no faster than new media arrives
    /// (M02).
    private func isAtEdge(_ player: Player, wanting rate: Float) -> Bool {
        player.rate == 1 && rate > 1 && player.state.duration.isIndefinite
    }

    private mutating func setRateAtHostTime(_ player: Player) {
        let item: MediaTime? = one(of: [nil, .zero, milliseconds(below(50_000)), .indefinite, milliseconds(-3000)])
        let now = player.sourceClock.now
        let host: HostTime? = one(of: [
            nil, now, now + .milliseconds(below(3000)), now - .milliseconds(below(9000)),
            HostTime(offset: .seconds(Int64.max)),
        ])
        let rate = one(of: Self.rates)
        do {
            try player.setRate(rate, time: item, atHostTime: host)
            note("rate \(rate) with \(item?.seconds ?? .nan) at \(host?.offset.seconds ?? .nan)")
        } catch {
            note(
                "rate \(rate) with \(item?.seconds ?? .nan) at \(host?.offset.seconds ?? .nan) throws \(error.code.rawValue)"
            )
        }
    }

    // MARK: Seeking

    private func milliseconds(_ count: Int) -> MediaTime { MediaTime(value: Int64(count), timescale: 1000) }

    private mutating func seek() {
        let player = stage.player
        switch below(14) {
        case 0:
            some(of: stage.change(\.items))?.cancelPendingSeeks()
            note("cancel seeks")
        case 1:
            some(of: stage.change(\.items))?.step(byCount: below(9) - 4)
            note("step")
        case 2:
            let rate = one(of: Self.rates)
            _ = stage.start("\(name): preroll") { "\(try await player.preroll(atRate: rate))" }
        case 3:
            player.cancelPendingPrerolls()
            note("cancel prerolls")
        case 4:
            let date = Date(timeIntervalSince1970: Double(below(100)) - 20)
            _ = stage.start("\(name): seek to a date") { "\(try await player.seek(to: date))" }
        case 5:
            let session = stage.change { props in
                if props.scrubbing == nil { props.scrubbing = ScrubSession(player) }
                return props.scrubbing
            }
            let time = milliseconds(below(40_000))
            _ = stage.start("\(name): scrub to \(time.seconds)") { "\(try await session?.scrub(to: time) ?? false)" }
        case 6:
            stage.change { props in
                props.scrubbing?.end()
                props.scrubbing = nil
            }
            note("end of scrubbing")
        default:
            let time: MediaTime = one(of: [
                milliseconds(below(40_000)), milliseconds(below(40_000)), milliseconds(below(4000)),
                milliseconds(below(700_000)), player.state.currentTime + milliseconds(below(6000)),
                player.state.currentTime - milliseconds(below(6000)), player.state.duration, .positiveInfinity,
                .negativeInfinity, .invalid, .zero, milliseconds(-1),
            ])
            let tolerances: [MediaTime] = [
                .zero, .positiveInfinity, milliseconds(500), milliseconds(5000), milliseconds(-1), .indefinite,
            ]
            let (before, after) =
                below(3) == 0
                ? (one(of: tolerances), one(of: tolerances))
                : one(of: [(.zero, .zero), (.positiveInfinity, .positiveInfinity)])
            let task = stage.start("\(name): seek to \(time.seconds) -\(before.seconds) +\(after.seconds)") {
                "\(try await player.seek(to: time, toleranceBefore: before, toleranceAfter: after))"
            }
            note("seek to \(time.seconds) -\(before.seconds) +\(after.seconds)")
            if below(6) == 0 { task.cancel() }
        }
    }

    // MARK: Items

    private static let kinds: [ControlOrigin.Kind] = [
        .film, .film, .film, .film, .long, .long, .long, .short, .short, .live, .live, .faulty, .none,
    ]

    private mutating func newItem() -> PlayerItem {
        let item = stage.newItem(one(of: Self.kinds))
        switch below(8) {
        case 0: item.forwardPlaybackEndTime = milliseconds(below(20_000))
        case 1: item.startPosition = .time(.milliseconds(below(60_000) - 10_000))
        case 2: item.endPosition = .duration(.seconds(below(10)))
        case 3: item.startsOnFirstEligibleVariant = true
        default: break
        }
        return item
    }

    private mutating func changeItems() {
        let player = stage.player
        guard let queue = player as? QueuePlayer, below(3) > 0 else { return replaceItem(of: player) }
        switch below(12) {
        case 0..<5:
            let item = below(4) > 0 ? newItem() : some(of: stage.change(\.items)) ?? newItem()
            let other = below(3) == 0 ? some(of: stage.change(\.items)) : nil
            insert(item, after: other, into: queue)
        case 5..<7:
            let item = below(3) == 0 ? queue.currentItem : some(of: stage.change(\.items))
            guard let item else { return }
            queue.remove(item)
            note("remove \(stage.name(of: item))")
            require(!queue.items().contains { $0 === item }, "still in the queue")
        case 7..<9:
            queue.advanceToNextItem()
            note("advance to \(stage.name(of: queue.currentItem))")
        case 9:
            queue.removeAllItems()
            note("remove all")
            require(queue.items().isEmpty && queue.currentItem == nil && queue.rate == 0, "not empty")
        case 10: loop(queue)
        default:
            let looper = stage.change { props in
                defer { props.looper = nil }
                return props.looper
            }
            if below(2) == 0 { looper?.disableLooping() }
            note("end of looping")
        }
    }

    private func insert(_ item: PlayerItem, after other: PlayerItem?, into queue: QueuePlayer) {
        let text = "insert \(stage.name(of: item)) after \(stage.name(of: other))"
        let (canInsert, wasEmpty) = (queue.canInsert(item, after: other), queue.currentItem == nil)
        do {
            try queue.insert(item, after: other)
            note(text)
            require(canInsert, "it could not be inserted")
            require(wasEmpty || queue.items().contains { $0 === item }, "not in the queue")
        } catch {
            note("\(text) throws \(error.code.rawValue)")
            require(!canInsert, "it could be inserted")
        }
    }

    private mutating func replaceItem(of player: Player) {
        let item: PlayerItem? =
            switch below(8) {
            case 0: nil
            case 1: player.currentItem
            case 2: some(of: stage.change(\.items))
            default: newItem()
            }
        do {
            try player.replaceCurrentItem(with: item)
            note("replace by \(stage.name(of: item))")
            require(player.currentItem === item, "another one is current")
        } catch {
            note("replace by \(stage.name(of: item)) throws \(error.code.rawValue)")
        }
    }

    private mutating func loop(_ queue: QueuePlayer) {
        let range: MediaTimeRange? =
            below(2) == 0
            ? nil : MediaTimeRange(start: milliseconds(below(4000)), duration: milliseconds(below(9000)))
        let template = PlayerItem(urlString: ControlOrigin.url(one(of: [.short, .film])))
        let ordering: PlayerLooper.Ordering = below(2) == 0 ? .precedesExistingItems : .followsExistingItems
        do {
            let looper = try PlayerLooper(player: queue, template: template, range: range, ordering: ordering)
            let old = stage.change { props in
                defer { props.looper = looper }
                return props.looper
            }
            withExtendedLifetime(old) {}
            note("loop")
        } catch {
            note("loop throws \(error.code.rawValue)")
        }
    }

    // MARK: Outputs

    private mutating func newOutput() -> any PlayerItemOutput {
        switch below(8) {
        case 0..<2: VideoOutput()
        case 2: VideoOutput(displaySize: PixelSize(width: 32 << below(4), height: 18 << below(4)), scale: 2)
        case 3: AudioOutput()
        case 4: SampleOutput()
        case 5: LegibleOutput()
        case 6: MetadataOutput()
        default: MetadataCollector()
        }
    }

    private mutating func changeOutputs() {
        let player = stage.player
        guard let item = below(3) > 0 ? player.currentItem : some(of: stage.change(\.items)) else { return }
        switch below(9) {
        case 0..<4: addOutput(to: item, of: player)
        case 4..<6:
            guard let output = some(of: stage.change(\.outputs)) else { return }
            unchanged(player, "remove an output from \(stage.name(of: item))") { item.remove(output) }
        case 6:
            let takesSamples = below(3) == 0
            let writer = CountingWriter(
                takesSamples: takesSamples, mediaTypes: one(of: [[.video], [.audio], [.video, .audio]]))
            stage.change { props in
                props.writers.append(writer)
                if props.writers.count > 4 { props.writers.removeFirst() }
            }
            unchanged(player, "add a writer to \(stage.name(of: item))") { item.add(writer) }
        case 7:
            guard let writer = some(of: stage.change(\.writers)) else { return }
            unchanged(player, "remove a writer from \(stage.name(of: item))") { item.remove(writer) }
        default: touchOutput(player)
        }
    }

    private mutating func addOutput(to item: PlayerItem, of player: Player) {
        let output = below(3) > 0 ? newOutput() : some(of: stage.change(\.outputs)) ?? newOutput()
        stage.change { props in
            if !props.outputs.contains(where: { $0 === output }) { props.outputs.append(output) }
            if props.outputs.count > 6 { props.outputs.removeFirst() }
        }
        unchanged(player, "add \(type(of: output)) to \(stage.name(of: item))") { try? item.add(output) }
    }

    private mutating func touchOutput(_ player: Player) {
        guard let output = some(of: stage.change(\.outputs)) else { return }
        let suppresses = below(2) == 0
        let size = PixelSize(width: below(2000), height: below(2000))
        unchanged(player, "change \(type(of: output))") {
            output.suppressesPlayerRendering = suppresses
            if let output = output as? VideoOutput {
                output.displaySize = size
                let time = player.state.currentTime
                if output.hasNewFrame(for: time) { _ = try? output.copyFrame(for: time) }
            }
        }
    }

    // MARK: Selection and preferences

    private mutating func select() {
        let player = stage.player
        guard let item = below(4) > 0 ? player.currentItem : some(of: stage.change(\.items)) else { return }
        let characteristic = one(of: [MediaCharacteristic.audible, .legible, .visual])
        switch below(6) {
        case 0..<4:
            guard let group = item.mediaSelectionGroup(for: characteristic) else { return }
            let option = below(4) == 0 ? nil : some(of: group.options)
            unchanged(player, "select \(option?.displayName ?? "none") of \(stage.name(of: item))") {
                item.select(option, in: group)
            }
        case 4:
            guard let group = item.mediaSelectionGroup(for: characteristic) else { return }
            unchanged(player, "select automatically") { item.selectMediaOptionAutomatically(in: group) }
        default:
            let criteria = MediaSelectionCriteria(preferredLanguages: [one(of: ["en", "fr", "de", "x"])])
            let isAutomatic = below(3) > 0
            unchanged(player, "criteria \(criteria.preferredLanguages), automatic \(isAutomatic)") {
                player.setMediaSelectionCriteria(isAutomatic ? criteria : nil, for: characteristic)
                player.appliesMediaSelectionCriteriaAutomatically = isAutomatic
            }
        }
    }

    private mutating func setWishes() {
        let player = stage.player
        let item = below(4) > 0 ? player.currentItem : some(of: stage.change(\.items))
        let number = below(5)
        let choice = below(12)
        let end = number < 3 ? nil : milliseconds(below(50_000))
        if choice == 0 {
            item?.forwardPlaybackEndTime = end
            return note("forward end \(end?.seconds ?? -1) of \(stage.name(of: item))")
        }
        unchanged(player, "wish \(choice) \(number) of \(stage.name(of: item))") {
            switch choice {
            case 1: item?.preferredPeakBitRate = [nil, 300_000, 800_000, -5, .nan][number]
            case 2:
                item?.preferredForwardBufferDuration = [nil, .zero, .seconds(5), .seconds(60), .seconds(-1)][number]
            case 3: item?.preferredMaximumResolution = number < 2 ? nil : PixelSize(width: 64 * number, height: 40)
            case 4:
                let name = ["250000 64x36", "500000 128x72", "1000000 256x144"][number % 3]
                let id = AssetVariant.ID(rawValue: "\(name) avc1.42C00A,mp4a.40.2 audio=a")
                item?.variantPolicy = number < 2 ? .automatic : .pinned(id, flush: number % 2 == 0)
            case 5:
                item?.audio = try? QualityExpression(
                    parsing: ["lang=en", "lang=fr", "name=Deutsch"][number % 3], for: .renditions)
            case 6:
                item?.subtitles =
                    number < 2
                    ? nil : try? QualityExpression(parsing: ["lang=en", "lang=fr"][number % 2], for: .renditions)
            case 7: item?.quality = number < 3 ? nil : try? QualityExpression(parsing: "best")
            case 8: player.networkConditions = NetworkConditions(isExpensive: number < 2)
            case 9: item?.preferredPeakBitRateForExpensiveNetworks = [nil, 300_000, 800_000, -5, .nan][number]
            case 10:
                player.volume = [0, 0.5, 1, 7, .nan][number]
                player.isMuted = number < 2
            default: item?.audioTimePitchAlgorithm = [.timeDomain, .varispeed, .muted, .timeDomain, .varispeed][number]
            }
        }
    }

    // MARK: Observers

    private mutating func observe() {
        let player = stage.player
        let interval = milliseconds([1, 100, 500, 1000, 0][below(5)])
        let times = (0..<below(5)).map { _ in milliseconds(below(40_000)) }
        switch below(6) {
        case 0:
            guard let times = try? player.times(every: interval) else { return note("observe times: refused") }
            listen(for: "times") { for await _ in times {} }
        case 1:
            guard let times = try? player.boundaries(times) else { return note("observe boundaries: refused") }
            listen(for: "boundaries") { for await _ in times {} }
        case 2:
            let states = player.values(of: \.state)
            listen(for: "states") { for await _ in states {} }
        case 3:
            guard let item = player.currentItem else { return }
            let metrics = item.allMetrics()
            listen(for: "metrics") { for await _ in metrics {} }
        case 4:
            guard let output = stage.change(\.outputs).compactMap({ $0 as? VideoOutput }).first else { return }
            let frames = output.frames()
            let viewer = stage.start("\(name): observed frames") {
                for await _ in frames {}
                return "the end"
            }
            stage.change { $0.viewers.append(viewer) }
            note("observe frames")
        default:
            let observer = stage.change { $0.observers.isEmpty ? nil : $0.observers.removeFirst() }
            observer?.cancel()
            note("an observer goes")
        }
    }

    private func listen(for what: String, _ body: @escaping @Sendable () async throws -> Void) {
        note("observe \(what)")
        let task = stage.start("\(name): observed \(what)") {
            try await body()
            return "the end"
        }
        let old = stage.change { props in
            props.observers.append(task)
            return props.observers.count > 6 ? props.observers.removeFirst() : nil
        }
        old?.cancel()
    }

    // MARK: Reads, and lifetime of players

    private mutating func read() {
        let player = stage.player
        let item = below(2) == 0 ? player.currentItem : some(of: stage.change(\.items))
        unchanged(player, "read") {
            _ = (player.state, player.items, player.currentTime, player.sourceClock.now)
            guard let item else { return }
            _ = (item.latestState, item.tracks, item.presentationSize, item.error, item.currentMediaSelection)
            _ = (item.accessLog?.events.count, item.errorLog?.events.count, item.canStepForward, item.variantPolicy)
        }
        guard let item, below(2) == 0 else { return }
        stage.add(item.copy(), named: "copy of \(stage.name(of: item))")
        note("copy")
    }

    private mutating func changePlayer() {
        let choice = below(4)
        switch choice {
        case 0:
            let player = stage.player
            _ = stage.start("\(name): close") {
                await player.close()
                return "closed"
            }
            stage.replacePlayer(withQueue: true)
            note("close the player")
        default:
            stage.replacePlayer(withQueue: choice != 1)
            note("let the player go")
        }
    }
}

extension Player {
    fileprivate var items: [PlayerItem] { (self as? QueuePlayer)?.items() ?? [] }
}
