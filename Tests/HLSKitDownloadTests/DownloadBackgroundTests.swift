import Foundation
import HLSKitLoading
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("A download in the background", .timeLimit(.minutes(10)))
struct DownloadBackgroundTests {
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

    @Test("S01: a download reports its state, then loaded ranges, and finally a summary")
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

    @Test("O04: the summary contains requested and loaded media, and the time taken")
    func summary() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            let start = server.clock.now
            task.resume()
            let result = try await task.result()
            let time = start.duration(to: server.clock.now)
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

    @Test("O04: a failed run gives the reason, and the next one continues from there")
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

    @Test("S01: a download can be stopped, and the next run loads the rest")
    func stopped() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.connectionCount = 1 }
            await task.resume(untilStored: 4)
            task.stop()
            let first = try await task.result()
            #expect(first.segmentCount >= 4 && first.segmentCount < 20)
            task.resume()
            let second = try await task.result()
            #expect(second.resumedSegmentCount >= 4)
            #expect(second.segmentCount > 20 && second.gaps.isEmpty)
        }
    }

    @Test("S01: a download can be suspended, and resumes with the rest")
    func suspended() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.connectionCount = 1 }
            await task.resume(untilStored: 4)
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

    @Test("S01: a run cancelled by its caller is reported as cancelled, and its progress is kept")
    func cancelled() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.connectionCount = 1 }
            let running = Task(executorPreference: server.clock) { try await task.run().segmentCount }
            try await server.clock.sleep(for: .seconds(1))
            running.cancel()
            let error = await #expect(throws: HLSError.self) { try await running.value }
            #expect(error?.code == .cancelled)
            let (progress, summaries) = await Self.read(task)
            #expect(summaries.map(\.error) == ["cancelled"])
            #expect(progress.map(\.segmentCount) == [task.progress.segmentCount])
            #expect(summaries.first?.segmentCount == task.progress.segmentCount)
            #expect(task.progress.segmentCount > 0 && (task.progress.fraction ?? 1) < 1)
        }
    }

    @Test(
        "S01: after the process was killed, a new task reports the stored media and continues")
    func killed() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task { $0.connectionCount = 1 }
            #expect(task.progress == DownloadProgress())
            await task.resume(untilStored: 6)
            // The files on disk are now the same as after the process was killed.
            let copy = server.folder.path + "/killed"
            try FileManager.default.copyItem(atPath: server.folder.path + "/d", toPath: copy)
            task.suspend()
            _ = try? await task.result()
            let again = try await DownloadTask(task.configuration, folder: copy)
            let stored = again.progress
            #expect(stored.segmentCount >= 6 && stored.storedByteCount > 0)
            #expect(stored.fraction == nil && stored.phase == .opening)
            #expect(stored.loadedTimeRanges.first?.start.seconds == 0)
            // The new task has not run yet, so it reports its stored progress and no summary.
            for await event in again.events() {
                guard case .progress(let progress) = event else {
                    Issue.record("\(event)")
                    break
                }
                #expect(progress == stored)
                break
            }
            again.resume()
            let (progress, summaries) = await Self.read(again)
            #expect(progress.allSatisfy { $0.segmentCount >= stored.segmentCount })
            #expect(progress.last?.fraction == 1)
            #expect(summaries.map(\.error) == [nil])
            let result = try await again.result()
            #expect(result.resumedSegmentCount == stored.segmentCount && result.damagedSegmentCount == 0)
            #expect(result.gaps.isEmpty)
        }
    }

    @Test("S01: it loads once, however often it is resumed, and a cancelled waiter does not end it")
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

    @Test("S01: a second run joins the running one, whichever way that was started")
    func joined() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            task.resume()
            let joined = Task(executorPreference: server.clock) { try await task.run().segmentCount }
            try await server.clock.sleep(for: .milliseconds(300))
            joined.cancel()
            let error = await #expect(throws: HLSError.self) { try await joined.value }
            #expect(error?.code == .cancelled)
            let result = try await task.run()
            #expect(result.resumedSegmentCount == 0, "it was not ended")
            #expect(server.requests.count { $0.resourceClass == .segment } == result.segmentCount)
        }
    }

    @Test("S01: resuming during a caller's run loads nothing more and returns that run's result")
    func callersRun() throws {
        let server = try SampleServer()
        try server.clock.run {
            let task = try await server.task()
            let running = Task(executorPreference: server.clock) { try await task.run().segmentCount }
            try await server.clock.sleep(for: .milliseconds(300))
            task.resume()
            task.suspend()
            let result = try await task.result()
            #expect(try await running.value == result.segmentCount)
            #expect(server.requests.count { $0.resourceClass == .segment } == result.segmentCount)
        }
    }
}

@Suite("Downloaded time ranges")
struct DownloadedRangesTests {
    @Test(
        "S01: ranges are sorted, disjoint and merged",
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

    @Test("S01: rounding in playlists leaves no gap")
    func rounding() {
        var ranges = DownloadedRanges()
        ranges.insert(from: .zero, to: .milliseconds(3999))
        ranges.insert(from: .seconds(4), to: .seconds(8))
        ranges.insert(from: .milliseconds(8002), to: .seconds(9))
        #expect(ranges.timeRanges.map { [$0.start.seconds, $0.end.seconds] } == [[0, 8], [8.002, 9]])
    }
}
