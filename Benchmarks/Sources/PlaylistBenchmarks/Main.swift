import Glibc
import HLSKitPlaylist

/// Prints the speed of parsing and reloading playlists, and the memory they need.
///
/// `swift run -c release` in `Benchmarks/`. The timed part of parsing includes a checksum over every typed value, so
/// that no work can be deferred. Each result is the best of many runs.
@main
enum PlaylistBenchmarks {
    static func main() throws {
        let samples: [(name: String, bytes: [UInt8])] = [
            ("VOD, 100 000 segments", Samples.vod()), ("live, 10 000 segments", Samples.live()),
            ("low latency, 24 000 parts", Samples.lowLatency()), ("multivariant, 500 variants", Samples.multivariant()),
        ]
        if CommandLine.arguments.count > 1, let index = Int(CommandLine.arguments[1]), samples.indices.contains(index) {
            // Each sample has its own process, because freed memory would hide the need for more. The first playlists
            // bring code and tables into memory.
            _ = try checksum(of: Playlist(parsing: Samples.live(segmentCount: 200), url: "https://h/x.m3u8"))
            _ = try checksum(of: Playlist(parsing: Samples.multivariant(variantCount: 9), url: "https://h/x.m3u8"))
            print(decimals(try memoryOfReading(samples[index].bytes)))
            return
        }
        // `only 2` measures only the third sample, for a profiler. `only 4` measures only the reload.
        let only = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) : nil
        print("file                           size   read+checksum      read only   memchr lines   memory/text")
        for (index, sample) in samples.enumerated() where index == only ?? index {
            let (name, bytes) = sample
            let memory = memory(ofSample: index)
            var sum: UInt64 = 0
            let both = try best { sum = try checksum(of: Playlist(parsing: bytes, url: "https://h/x.m3u8")) }
            let parse = try best { _ = try Playlist(parsing: bytes, url: "https://h/x.m3u8") }
            var lines = 0
            let count = best { lines = lineCount(bytes) }
            print(
                name.padded(26), (size(bytes.count)).leftPadded(8), rate(bytes.count, both).leftPadded(15),
                rate(bytes.count, parse).leftPadded(14), rate(bytes.count, count).leftPadded(14),
                memory.leftPadded(10) + " x", "  (\(lines) lines, checksum \(String(sum, radix: 16)))")
        }
        if only ?? samples.count == samples.count { try reload() }
    }

    /// Measures reloads in full and as a delta update. The live window has one new segment at its end and one fewer at
    /// its start.
    private static func reload() throws {
        let old = try MediaPlaylist(parsing: Samples.live(), url: "https://h/x.m3u8")
        let bytes = Samples.live(from: 5_000_001)
        let fresh = try best { _ = try MediaPlaylist(parsing: bytes, url: "https://h/x.m3u8") }
        let reloaded = try best { _ = try MediaPlaylist(parsing: bytes, url: "https://h/x.m3u8", reusing: old) }
        guard
            try MediaPlaylist(parsing: bytes, url: "https://h/x.m3u8")
                == MediaPlaylist(parsing: bytes, url: "https://h/x.m3u8", reusing: old)
        else { fatalError("a reload gives another playlist than a fresh read") }
        print(
            "reload of the live window: \(microseconds(fresh)) fresh, \(microseconds(reloaded)) reusing the old one:",
            decimals(fresh / reloaded), "times faster")
    }

    // MARK: Measuring

    /// Returns the shortest time in seconds of at least 20 runs within at least half a second.
    private static func best(_ body: () throws -> Void) rethrows -> Double {
        var shortest = Double.infinity
        var total = 0.0
        var runs = 0
        while runs < 20 || total < 0.5 {
            let start = now()
            try body()
            let time = now() - start
            shortest = min(shortest, time)
            total += time
            runs += 1
        }
        return shortest
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func memory(ofSample index: Int) -> String {
        guard let pipe = popen("\(CommandLine.arguments[0]) \(index)", "r") else { return "?" }
        defer { pclose(pipe) }
        var buffer = [CChar](repeating: 0, count: 32)
        guard fgets(&buffer, 32, pipe) != nil else { return "?" }
        return String(decoding: buffer.prefix { $0 > 0x20 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the growth of the peak resident memory during parsing, as a multiple of the text's size.
    private static func memoryOfReading(_ bytes: [UInt8]) throws -> Double {
        // Reset the high water mark (proc(5)).
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        let before = statusValue("VmRSS:")
        let playlist = try Playlist(parsing: bytes, url: "https://h/x.m3u8")
        let peak = statusValue("VmHWM:")
        withExtendedLifetime(playlist) {}
        // The text was in memory before and is shared, so it is added.
        return Double(max(0, peak - before) * 1024 + bytes.count) / Double(bytes.count)
    }

    /// Returns a value in kibibytes.
    private static func statusValue(_ key: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        while fgets(&buffer, 256, file) != nil {
            let line = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if line.hasPrefix(key) { return Int(line.split { !$0.isNumber }.first ?? "0") ?? 0 }
        }
        return 0
    }

    private static func lineCount(_ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            var count = 0
            var position = base
            let end = base + buffer.count
            while let found = memchr(position, 0x0A, end - position) {
                count += 1
                position = UnsafeRawPointer(found) + 1
            }
            return count
        }
    }

    private static func rate(_ byteCount: Int, _ seconds: Double) -> String {
        "\(Int(Double(byteCount) / seconds / 1e6)) MB/s"
    }

    private static func size(_ count: Int) -> String { decimals(Double(count) / 1e6) + " MB" }
    private static func microseconds(_ seconds: Double) -> String { "\(Int(seconds * 1e6)) us" }
    private static func decimals(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
