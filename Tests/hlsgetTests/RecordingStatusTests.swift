import HLSKitCore
import Testing

@testable import HLSGetKit
@testable import hlsget

@Suite("Status line of a recording")
struct RecordingStatusTests {
    private static func state(
        _ status: TimeControlStatus, at time: Double, liveOffset: Duration? = .seconds(7)
    ) -> PlayerState {
        var state = PlayerState()
        state.timeControlStatus = status
        state.currentTime = .seconds(time)
        state.liveOffset = liveOffset
        return state
    }

    private static func text(
        _ recording: inout RecordingStatus, _ state: PlayerState, _ sizes: [String: Int] = [:]
    ) -> String {
        recording.text(state) { sizes[$0] }
    }

    @Test("the status shows the recorded duration of a live stream that does not begin at 0")
    func live() {
        var recording = RecordingStatus(paths: ["a.mp4"], limit: .seconds(3600))
        #expect(Self.text(&recording, Self.state(.waitingToPlayAtSpecifiedRate, at: 17)) == "rec 0:00 of 1:00:00")
        #expect(
            Self.text(&recording, Self.state(.playing, at: 18), ["a.mp4.part": 48_000, "a.mp4": 9])
                == "rec 0:00 of 1:00:00 48 kB")
        #expect(
            Self.text(&recording, Self.state(.playing, at: 83.2), ["a.mp4.part": 3_200_000])
                == "rec 1:05 of 1:00:00 3.2 MB")
        #expect(
            Self.text(&recording, Self.state(.waitingToPlayAtSpecifiedRate, at: 83.2), ["a.mp4.part": 3_200_000])
                == "rec 1:05 of 1:00:00 3.2 MB")
    }

    @Test("a live download without a status line logs its progress, and tells if it waits")
    func downloadLog() {
        var progress = DownloadProgress()
        (progress.isLive, progress.phase) = (true, .loading)
        var log = DownloadLog(path: "a.mp4", mayWait: true)
        #expect(log.line(progress, at: .seconds(9), hasStatusLine: false) == nil)
        #expect(
            log.line(progress, at: .seconds(10), hasStatusLine: true)
                == "hlsget: waiting: the stream has not reached --from")
        (progress.segmentCount, progress.storedByteCount) = (3, 3_200_000)
        let time = MediaTime(value: 72, timescale: 1)
        progress.loadedTimeRanges = [MediaTimeRange(start: time, duration: time)]
        #expect(log.line(progress, at: .seconds(609), hasStatusLine: false) == nil)
        #expect(
            log.line(progress, at: .seconds(610), hasStatusLine: false)
                == "hlsget: downloading to a.mp4: 1:12, 3 segments, 3.2 MB")
        #expect(log.line(progress, at: .seconds(1210), hasStatusLine: true) == nil)
        progress.isLive = false
        #expect(log.line(progress, at: .seconds(9000), hasStatusLine: false) == nil)
    }

    @Test("file sizes are added up; with an end, the timeline shows the progress")
    func several() {
        var recording = RecordingStatus(paths: ["a.mp4", "b.ts"])
        let state = Self.state(.playing, at: 12, liveOffset: nil)
        #expect(Self.text(&recording, state, ["a.mp4.part": 500_000, "b.ts.part": 700_000]) == "rec 1.2 MB")
        #expect(Self.text(&recording, state) == "rec")
    }

    @Test("the status precedes the line, however narrow the line is")
    func line() {
        var line = StatusLine(width: 60)
        line.recording = "rec 0:12 of 1:00:00 3.2 MB"
        let state = Self.state(.playing, at: 30)
        #expect(line.render(state).hasPrefix("rec 0:12 of 1:00:00 3.2 MB  "))
        #expect(line.render(state).count < 60)
        line.width = 20
        #expect(line.render(state) == "rec 0:12 of 1:00:00")
    }

    @Test("a log without a status line gets the files and the amount written")
    func logLine() {
        var recording = RecordingStatus(paths: ["a.mp4"], limit: .seconds(3600))
        recording.observe(Self.state(.playing, at: 18))
        let line = recording.logLine(Self.state(.playing, at: 28), current: ["a.mp4"]) { ["a.mp4.part": 48_000][$0] }
        #expect(line == "hlsget: writing a.mp4 (a.mp4.part until finished): 0:10 of 1:00:00 48 kB")
        // The name of a file of a split recording is known when it has begun.
        let next = recording.logLine(Self.state(.playing, at: 30), current: ["a-002.mp4"]) { _ in nil }
        #expect(next == "hlsget: writing a-002.mp4 (a-002.mp4.part until finished): 0:12 of 1:00:00")
    }

    @Test("the start message names the file and how to stop")
    func announcement() {
        #expect(
            RecordingStatus(paths: ["a.mp4"]).announcement(readsKeys: true)
                == "writing a.mp4 (a.mp4.part until finished): press q or Ctrl-C to stop and keep the recording")
        #expect(
            RecordingStatus(paths: ["a.mp4", "b.ts"]).announcement(readsKeys: false)
                == "writing a.mp4 (a.mp4.part until finished), b.ts (b.ts.part until finished): press Ctrl-C to stop and "
                + "keep the recording")
        let odd = RecordingStatus(paths: ["a\u{1b}[2J.ts"])
        #expect(!odd.announcement(readsKeys: true).contains("\u{1b}"))
    }
}
