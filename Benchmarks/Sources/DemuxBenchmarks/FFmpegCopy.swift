import Foundation

enum FFmpegCopy {
    /// Returns the processor time in seconds without ffmpeg's start-up, or `nil` if ffmpeg is not installed.
    static func seconds(_ set: SegmentSet) throws -> Double? {
        // A single file keeps the cost of opening files out of the measurement.
        let file = FileManager.default.temporaryDirectory.appending(path: "demux-\(UUID().uuidString)")
        try Data(set.map + set.segments.flatMap { $0 }).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let copy = ["-v", "quiet", "-nostdin", "-threads", "1", "-i", file.path, "-map", "0", "-c", "copy"]
        var (best, start) = (Double.infinity, Double.infinity)
        for _ in 0..<3 {
            guard let all = try run(copy + ["-f", "null", "-"]),
                let none = try run(copy + ["-t", "0", "-f", "null", "-"])
            else { return nil }
            (best, start) = (min(best, all), min(start, none))
        }
        return max(best - start, 0.001)
    }

    private static func run(_ arguments: [String]) throws -> Double? {
        let before = childSeconds()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["ffmpeg"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? childSeconds() - before : nil
    }

    private static func childSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
