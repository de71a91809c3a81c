import HLSKitCore
import Testing

@testable import HLSGetKit
@testable import hlsget

@Suite("Target and progress of a download")
struct DownloadTargetTests {
    @Test(
        "a file is named after the stream in its URL",
        arguments: [
            ("https://h/films/night/master.m3u8?token=1/2", "night"), ("https://h/night.m3u8", "night"),
            ("https://h/a%2F..%2Fb/x y.m3u8", "x_y"), ("https://h/", "download"), ("https://h", "download"),
            ("https://h/../..", "download"), ("file:///tmp/.hidden/index.m3u8", "hidden"),
            ("https://h/live/main.m3u8#x", "live"), ("https://h/index.m3u8", "download"),
            ("https://h/app/news/chunklist_w1234.m3u8", "news"), ("https://h/a/playlist_b800000.m3u8", "a"),
        ])
    func name(url: String, name: String) {
        #expect(DownloadTarget.name(of: url) == name)
    }

    @Test("an extension sets the format, a slash means a folder")
    func targets() throws {
        func target(_ output: String?, _ format: OutputFormat? = nil) throws -> DownloadTarget {
            try DownloadTarget(output: output, format: format, url: "https://h/night.m3u8")
        }
        #expect(try target(nil) == .file(path: "night.mp4", format: .mp4))
        #expect(try target(nil, .mkv) == .file(path: "night.mkv", format: .mkv))
        #expect(try target("x.ts") == .file(path: "x.ts", format: .ts))
        #expect(try target("x", .ts) == .file(path: "x", format: .ts))
        #expect(try target("x//") == .folder(path: "x"))
        for (output, format) in [
            ("-", nil), ("", nil), ("x", nil), ("x.wav", nil), ("/", nil), ("x/", OutputFormat.ts),
        ] {
            #expect(throws: ArgumentValueError.self) { try target(output, format) }
        }
    }

    @Test("the line shows progress, speed and remaining time")
    func line() {
        var progress = DownloadProgress()
        progress.phase = .loading
        (progress.segmentCount, progress.totalSegmentCount) = (5, 20)
        (progress.duration, progress.totalDuration) = (.seconds(20), .seconds(80))
        progress.storedByteCount = 2_000_000
        let line = DownloadLine(width: 80)
        #expect(line.render(progress, bytesPerSecond: 500_000) == "25%  5 / 20 segments  2 MB  500 kB/s  0:12 left")
        #expect(line.render(progress, bytesPerSecond: nil) == "25%  5 / 20 segments  2 MB")
        #expect(DownloadLine(width: 30).render(progress, bytesPerSecond: 500_000) == "25%  5 / 20 segments  2 MB")
        progress.isLive = true
        // Two tracks: the line shows the time of one.
        let range = MediaTimeRange(start: .zero, duration: MediaTime(value: 10, timescale: 1))
        progress.loadedTimeRanges = [range]
        #expect(line.render(progress, bytesPerSecond: 500_000) == "live 0:10  5 segments  2 MB  500 kB/s")
        progress.phase = .writing
        (progress.writtenDuration, progress.mediaDuration) = (.seconds(3), .seconds(4))
        #expect(line.render(progress, bytesPerSecond: nil) == "writing 75%  2 MB")
        for width in 0..<60 {
            #expect(DownloadLine(width: width).render(progress, bytesPerSecond: 1).count < max(1, width))
        }
    }

    @Test("the rate covers the last few seconds")
    func rate() throws {
        var meter = RateMeter(window: .seconds(5))
        #expect(meter.rate(at: .zero, byteCount: 0) == nil)
        #expect(meter.rate(at: .milliseconds(500), byteCount: 500) == nil)
        #expect(meter.rate(at: .seconds(2), byteCount: 2000) == 1000)
        for second in 3...20 { _ = meter.rate(at: .seconds(second), byteCount: 2000) }
        #expect(meter.rate(at: .seconds(21), byteCount: 2000) == 0)
    }
}
