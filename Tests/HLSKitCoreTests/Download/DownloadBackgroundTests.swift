import Foundation
import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitCore

@Suite("a download in the background", .timeLimit(.minutes(1)))
struct DownloadBackgroundTests {
    /// What a reader was told.
    private static func read(
        _ task: DownloadTask
    ) async -> (progress: [DownloadProgress], summary: [MetricDownloadSummaryEvent]) {
        var (progress, summaries): ([DownloadProgress], [MetricDownloadSummaryEvent]) = ([], [])
        for await event in task.events() {
            switch event {
            case .progress(let value): progress.append(value)
            case .summary(let value): summaries.append(value)
            }
        }
        return (progress, summaries)
    }

    @Test("S01: it begins with where it stands, tells which times are loaded, and ends with a summary")
    func events() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            task.resume()
            let (progress, summaries) = await Self.read(task)
            let result = try await task.result()
            #expect(progress.first?.segmentCount == 0)
            #expect(progress.count > 5)
            let loaded = progress.map { $0.loadedTimeRanges.reduce(0.0) { $0 + $1.duration.seconds } }
            #expect(loaded == loaded.sorted())
            #expect(loaded.last == 40)
            #expect(progress.last?.loadedTimeRanges.map(\.start) == [MediaTime(value: 0, timescale: 1_000_000)])
            #expect(progress.last?.segmentCount == result.segmentCount)
            #expect(summaries.count == 1)
        }
    }

    @Test("O04: the summary of a download says what was asked for, what came, and how long it took")
    func summary() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            let start = server.clock.now
            task.resume()
            let result = try await task.result()
            let time = start.duration(to: server.clock.now)
            // Who comes late hears it at once.
            let summary = try #require(await Self.read(task).summary.first)
            #expect(summary.error == nil)
            #expect(summary.recoverableErrorCount == 0)
            #expect(summary.mediaResourceRequestCount == server.mediaRequests.count)
            #expect(summary.downloadedByteCount > task.progress.receivedByteCount)
            #expect(summary.downloadDuration == time && time > .seconds(1))
            #expect(summary.segmentCount == result.segmentCount)
            #expect(summary.missingSegmentCount == 0)
            #expect(
                summary.playlistURLStrings
                    == ["https://sample.invalid/video-180p.m3u8", "https://sample.invalid/audio-en.m3u8"])
            #expect(summary.context.mediaTime.seconds == 40)
            let line = try #require(
                try JSONSerialization.jsonObject(with: Data(summary.jsonLine.utf8)) as? [String: Any])
            #expect(line["event"] as? String == "download_summary")
            #expect(line["segments"] as? Int == result.segmentCount)
            #expect(line["error"] is NSNull)
        }
    }

    @Test("O04: a run that fails says why, and the next one goes on from there")
    func failure() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            server.remove("audio-en.m3u8")
            task.resume()
            await #expect(throws: HLSError.self) { try await task.result() }
            let failed = try #require(await Self.read(task).summary.first)
            #expect(failed.error?.isEmpty == false)
            #expect(failed.missingSegmentCount == 0)
            server.restore()
            task.resume()
            let (_, summaries) = await Self.read(task)
            #expect(summaries.map(\.error) == [nil])
            #expect(try await task.result().gaps.isEmpty)
        }
    }

    @Test("S01: it can be suspended, and goes on with what is missing")
    func suspended() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.connectionCount = 1 }
            task.resume()
            for await event in task.events() {
                if case .progress(let progress) = event, progress.segmentCount >= 4 { break }
            }
            task.suspend()
            let error = await #expect(throws: HLSError.self) { try await task.result() }
            #expect(error?.code == .cancelled)
            #expect(await Self.read(task).summary.first?.error == "cancelled")
            let stored = task.progress.segmentCount
            #expect(stored >= 4 && stored < 20)
            task.resume()
            let result = try await task.result()
            #expect(result.resumedSegmentCount >= 4)
            #expect(result.gaps.isEmpty)
        }
    }

    @Test("S01: it loads once, however often it is resumed, and whoever stops waiting does not end it")
    func once() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            task.resume()
            task.resume()
            let waiting = Task(executorPreference: server.clock) { try await task.result().segmentCount }
            try await server.clock.sleep(for: .milliseconds(300))
            waiting.cancel()
            await #expect(throws: HLSError.self) { try await waiting.value }
            let result = try await task.result()
            #expect(result.resumedSegmentCount == 0)
            let segments = server.requests.filter { $0.resourceClass == .segment }
            #expect(segments.count == result.segmentCount)
        }
    }
}

@Suite("times that are downloaded")
struct DownloadedRangesTests {
    @Test(
        "S01: ranges are in order, do not overlap, and are as few as can be",
        arguments: [
            ([], []), ([[0, 4]], [[0, 4]]), ([[4, 8], [0, 4]], [[0, 8]]), ([[8, 12], [0, 4]], [[0, 4], [8, 12]]),
            ([[8, 12], [0, 4], [4, 8]], [[0, 12]]), ([[0, 4], [2, 6], [20, 24], [5, 21]], [[0, 24]]),
            ([[3, 3], [9, 7]], []),
            ([[0, 10], [2, 4]], [[0, 10]]),
        ] as [([[Int]], [[Int]])])
    func insertion(_ added: [[Int]], _ expected: [[Int]]) {
        var ranges = DownloadedRanges()
        for range in added { ranges.insert(from: .seconds(range[0]), to: .seconds(range[1])) }
        #expect(ranges.ranges == expected.map { .seconds($0[0])..<(.seconds($0[1])) })
    }

    @Test("S01: what playlists round is no gap")
    func rounding() {
        var ranges = DownloadedRanges()
        ranges.insert(from: .zero, to: .milliseconds(3999))
        ranges.insert(from: .seconds(4), to: .seconds(8))
        ranges.insert(from: .milliseconds(8002), to: .seconds(9))
        #expect(ranges.timeRanges.map { [$0.start.seconds, $0.end.seconds] } == [[0, 8], [8.002, 9]])
    }
}
