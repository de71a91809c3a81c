import HLSKitCore
import HLSKitSimulation
import InMemoryTracing
import Testing
import Tracing

@testable import HLSKitObservability

@Suite("What a tracer gets of interstitials", .timeLimit(.minutes(1)))
struct InterstitialTraceTests {
    private static func seconds(_ instant: any TracerInstant) -> Double {
        Double(instant.nanosecondsSinceEpoch) / 1e9
    }

    private static func text(_ span: FinishedInMemorySpan, _ attribute: TraceAttribute) -> String? {
        switch span.attributes.get(attribute.rawValue) {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        default: nil
        }
    }

    /// Spans of a session in which `act` is done after some seconds.
    private func spans(
        _ scene: BreakScene, _ events: [InterstitialEvent], seconds: Int = 90, attachesAfter delay: Int = 0,
        after time: Int = 1, act: (Player, InterstitialEventController) throws -> Void = { _, _ in }
    ) throws -> [FinishedInMemorySpan] {
        let tracer = InMemoryTracer()
        let tracing = PlayerTracing(tracer: tracer)
        let player = try scene.play(events) { if delay == 0 { tracing.attach(to: $0) } }
        scene.stage.clock.advance(by: .seconds(delay))
        if delay > 0 { tracing.attach(to: player) }
        scene.stage.clock.advance(by: .seconds(time))
        try act(player, InterstitialEventController(primaryPlayer: player))
        scene.stage.clock.advance(by: .seconds(seconds - time - delay))
        scene.stage.close(player)
        #expect(tracer.activeSpans.isEmpty)
        let names = Set(TraceAttribute.allCases.map(\.rawValue))
        for span in tracer.finishedSpans {
            func check(_ name: String, _ value: SpanAttribute) { #expect(names.contains(name), "\(name)") }
            span.attributes.forEach(check)
            #expect(Self.seconds(span.startInstant) <= Self.seconds(span.endInstant), "\(span.operationName)")
        }
        return tracer.finishedSpans
    }

    private func only(_ name: String, of spans: [FinishedInMemorySpan]) throws -> FinishedInMemorySpan {
        let found = spans.filter { $0.operationName == name }
        #expect(found.count == 1, "\(name): \(found.count)")
        return try #require(found.first)
    }

    /// The host of an asset.
    private static func host(_ span: FinishedInMemorySpan) -> String {
        String(text(span, .url)?.dropFirst(8).prefix { $0 != "." } ?? "")
    }

    @Test(
        "a break is a span in that of its item, with one for each event, and in these one for each asset that is played"
    )
    func tree() throws {
        let scene = BreakScene()
        let spans = try spans(
            scene, [scene.event("one", at: 20, ["a", "b"]), scene.event("two", at: 20, ["gone"])])
        let item = try only("hls.item", of: spans)
        let found = try only("hls.break", of: spans)
        #expect(found.parentSpanID == item.spanID)
        #expect(Self.text(found, .itemTime) == "20.0")
        #expect(Self.text(found, .resumptionTime) == "20.0")
        #expect(Self.text(found, .interstitialCount) == "2")
        #expect(Self.text(found, .failedInterstitials) == "1")
        #expect(Self.text(found, .played) == "8.0")
        let length = Self.seconds(found.endInstant) - Self.seconds(found.startInstant)
        #expect(length >= 8 && length < 8.5)

        let events = spans.filter { $0.operationName == "hls.interstitial" }
        #expect(events.map { Self.text($0, .interstitialID) } == ["one", "two"])
        #expect(events.map { Self.text($0, .outcome) } == ["played", "failed"])
        #expect(events.map { Self.text($0, .played) } == ["8.0", "0.0"])
        #expect(events.map { $0.status?.code } == [nil, .error])
        #expect(events.map { Self.text($0, .errorType) } == [nil, "_OTHER"])
        #expect(events.allSatisfy { $0.parentSpanID == found.spanID })

        let assets = spans.filter { $0.operationName == "hls.asset" }
        let hosts = Dictionary(assets.map { (Self.host($0), $0) }) { first, _ in first }
        #expect(assets.count == 3 && hosts.count == 3, "\(assets.map(Self.host))")
        for name in ["a", "b"] {
            let asset = try #require(hosts[name])
            #expect(asset.parentSpanID == events.first?.spanID)
            #expect(Self.text(asset, .outcome) == "ended")
            #expect(Self.text(asset, .played) == "4.0")
            // It was loaded ahead of time.
            #expect(Self.seconds(asset.startInstant) < Self.seconds(found.startInstant))
            let requests = spans.filter { $0.parentSpanID == asset.spanID && $0.kind == .client }
            #expect(requests.filter { $0.operationName == "GET segment" }.count == 2)
            #expect(requests.allSatisfy { Self.seconds($0.startInstant) >= Self.seconds(asset.startInstant) })
        }
        let gone = try #require(hosts["gone"])
        // It was never played.
        #expect(gone.parentSpanID == item.spanID)
        #expect(Self.text(gone, .outcome) == "failed")
        #expect(Self.text(gone, .errorType) == "http_404")
        #expect(spans.contains { $0.parentSpanID == gone.spanID && $0.status?.code == .error })
        #expect(Self.text(item, .outcome) == "ended")
        #expect(Self.text(item, .played) == "60.0")
    }

    @Test("what the user does ends events as it does: skipped, cancelled, left by a seek, with the player")
    func outcomes() throws {
        let scene = BreakScene()
        let events = [scene.event("one", at: 4, ["a", "b"]), scene.event("two", at: 4, ["c"])]
        let skipped = try spans(scene, events, after: 6) { $1.skipCurrentEvent() }
        #expect(
            skipped.filter { $0.operationName == "hls.interstitial" }.map { Self.text($0, .outcome) }
                == ["skipped", "played"])
        let cancelled = try spans(BreakScene(), events, after: 6) {
            $1.cancelCurrentEvent(withResumptionOffset: .seconds(3))
        }
        let event = try only("hls.interstitial", of: cancelled)
        #expect(Self.text(event, .outcome) == "cancelled")
        #expect(Self.text(try only("hls.break", of: cancelled), .resumptionTime) == "7.0")
        let sought = BreakScene()
        let left = try spans(sought, events, after: 6) { player, _ in
            _ = try sought.stage.clock.run { try await player.seek(to: .seconds(40)) }
        }
        #expect(Self.text(try only("hls.interstitial", of: left), .outcome) == "left")
        #expect(Self.text(try only("hls.break", of: left), .resumptionTime) == nil)
        let closed = try spans(BreakScene(), events, seconds: 6)
        let last = try only("hls.break", of: closed)
        #expect(["left", "unobserved"].contains(Self.text(try only("hls.interstitial", of: closed), .outcome)))
        #expect(Self.seconds(last.endInstant) - Self.seconds(last.startInstant) < 3)
        #expect(
            ["left", "unobserved"].contains(
                Self.text(try #require(closed.first { Self.host($0) == "a" }), .outcome)))
    }

    @Test("an asset that was made ready and is never played is a span of the item")
    func unplayed() throws {
        let scene = BreakScene()
        let spans = try spans(scene, [scene.event("one", at: 20, ["a"])], after: 18) { player, _ in
            _ = try scene.stage.clock.run { try await player.seek(to: .seconds(40)) }
        }
        #expect(!spans.contains { $0.operationName == "hls.break" || $0.operationName == "hls.interstitial" })
        let asset = try only("hls.asset", of: spans)
        #expect(asset.parentSpanID == (try only("hls.item", of: spans)).spanID)
        #expect(Self.text(asset, .outcome) == "left")
        #expect(Self.text(asset, .played) == "0.0")
        let end = Self.seconds(asset.endInstant)
        #expect(end >= 18 && end < 19, "\(end)")
    }

    @Test("a list that is not there, what may be skipped, and a seek that is not allowed are told where they belong")
    func lists() throws {
        let scene = BreakScene()
        var gone = InterstitialEvent(
            id: "gone", time: .seconds(4), content: .assetList("https://gone.invalid/list.json"))
        gone.restrictions = .constrainsSeekingForwardInPrimaryContent
        var held = scene.event("held", at: 30, ["a"])
        held.restrictions = .requiresPlaybackAtPreferredRateForAdvancement
        held.skipControl = InterstitialSkipControl(offset: .seconds(1), duration: nil, labelID: nil)
        var isRefused = false
        let spans = try spans(scene, [gone, held], after: 33) { player, _ in
            let moved = try scene.stage.clock.run { try await player.seek(to: .seconds(50)) }
            isRefused = !moved
        }
        #expect(isRefused)
        let item = try only("hls.item", of: spans)
        let events = spans.filter { $0.operationName == "hls.interstitial" }
        #expect(events.map { Self.text($0, .outcome) } == ["failed", "played"])
        // It was asked for ahead of the break.
        #expect(item.events.filter { $0.name == "hls.asset_list" }.count == 1)
        #expect(events.last?.events.map(\.name).contains("hls.skippable") == true)
        #expect(events.last?.events.map(\.name).contains("hls.seek_refused") == true)
    }

    @Test("a stall in an asset is a span of that asset")
    func stall() throws {
        let scene = BreakScene(answer: { request in
            guard request.urlString.hasPrefix("https://a.invalid/"), request.urlString.hasSuffix("/1.m4s") else {
                return nil
            }
            var response = SimulatedResponse.notFound
            response.delay = .seconds(60)
            return response
        })
        let spans = try spans(scene, [scene.event("one", at: 20, ["a"])])
        let asset = try only("hls.asset", of: spans)
        let stall = try only("hls.stall", of: spans)
        #expect(stall.parentSpanID == asset.spanID)
        #expect(Self.text(stall, .waitingReason) == "toMinimizeStalls")
        #expect(Self.text(try only("hls.interstitial", of: spans), .outcome) == "playedInPart")
    }

    @Test("a break that is under way when looking begins has spans from then on")
    func late() throws {
        let scene = BreakScene()
        let spans = try spans(scene, [scene.event("one", at: 4, ["a", "b"])], attachesAfter: 6)
        let found = try only("hls.break", of: spans)
        let event = try only("hls.interstitial", of: spans)
        #expect(Self.seconds(found.startInstant) == 6 && Self.seconds(event.startInstant) == 6)
        #expect(Self.text(found, .itemTime) == "4.0")
        #expect(Self.text(event, .interstitialID) == "one")
        let assets = spans.filter { $0.operationName == "hls.asset" }
        #expect(assets.map(Self.host) == ["a", "b"])
        #expect(
            assets.allSatisfy { $0.parentSpanID == event.spanID },
            "\(assets.map { "\(Self.host($0)) in \($0.parentSpanID ?? "-")" }), \(event.spanID), \(found.spanID)")
    }

    @Test("the same session gives the same spans, each time")
    func repeatable() throws {
        func run() throws -> [String] {
            let scene = BreakScene()
            return try spans(
                scene, [scene.event("one", at: 10, ["a", "gone", "b"]), scene.event("two", at: 30, ["c"])]
            )
            .map { span in
                "\(span.operationName) \(Self.host(span)) \(span.startInstant.nanosecondsSinceEpoch)"
                    + " \(span.endInstant.nanosecondsSinceEpoch) \(span.events.map(\.name))"
            }
        }
        let first = try run()
        #expect(first.count > 20)
        #expect(try run() == first)
    }

    @Test("breaks are counted, with the time in them while they run, and their events by what became of them")
    func metrics() throws {
        let scene = BreakScene()
        let readings = Readings()
        let metrics = PlayerMetrics(factory: readings, interval: .seconds(1))
        let player = try scene.play([
            scene.event("one", at: 10, ["a", "b"]), scene.event("two", at: 10, ["gone"]),
            scene.event("three", at: 30, ["gone", "c"]),
        ]) { metrics.attach(to: $0) }
        scene.stage.clock.advance(by: .seconds(14))
        #expect(readings.count("hls_breaks_total") == 1)
        let soFar = readings.count("hls_break_seconds_total")
        #expect(soFar > 2 && soFar < 4)
        scene.stage.clock.advance(by: .seconds(80))
        scene.stage.close(player)
        #expect(readings.count("hls_breaks_total") == 2)
        #expect(readings.count("hls_interstitials_total{outcome=played}") == 1)
        #expect(readings.count("hls_interstitials_total{outcome=failed}") == 1)
        #expect(readings.count("hls_interstitials_total{outcome=playedInPart}") == 1)
        #expect(abs(readings.count("hls_interstitial_played_seconds_total") - 12) < 0.001)
        let time = readings.count("hls_break_seconds_total")
        #expect(time >= 12 && time < 13)
        #expect(abs(readings.count("hls_played_seconds_total") - 60) < 0.001)
        #expect(readings.count("hls_items_total{outcome=ended}") == 1)
    }
}
