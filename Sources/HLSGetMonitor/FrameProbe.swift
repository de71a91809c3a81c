import HLSKitCore

/// The brightness of a frame on a coarse grid, enough to detect black or frozen video.
struct LumaGrid: Sendable, Hashable {
    static let columns = 32
    static let rows = 18
    /// ITU-R BT.601, a tenth above black: 16 + 219 / 10 of limited range, 255 / 10 of full range.
    private static let darkLimit = (limited: 38, full: 26)
    private static let samplesPerCell = 4

    /// The mean luma of each cell, 0 to 255.
    var cells: [UInt8]
    /// The share of pixels that are dark, 0 to 1.
    var darkShare: Double

    /// Returns `nil` if the first plane is not luma with 8 to 16 bits.
    init?(_ frame: VideoFrame) {
        guard let layout = SampleLayout(pixelFormat: frame.pixelFormatName) else { return nil }
        let isFull = frame.colorTags.isFullRange ?? frame.pixelFormatName.hasPrefix("yuvj")
        let grid = frame.withPlanes { planes in
            planes.first.flatMap { plane in
                LumaGrid(
                    plane.bytes, bytesPerRow: plane.bytesPerRow, width: frame.width, height: plane.rowCount,
                    layout: layout, isFullRange: isFull)
            }
        }
        guard let grid else { return nil }
        self = grid
    }

    /// Returns `nil` if the frame is smaller than the grid or has too few bytes.
    init?(
        _ bytes: UnsafeRawBufferPointer, bytesPerRow: Int, width: Int, height: Int,
        layout: SampleLayout = SampleLayout(), isFullRange: Bool = false
    ) {
        let size = layout.byteCount
        guard width >= Self.columns, height >= Self.rows, bytesPerRow >= width * size,
            bytes.count >= bytesPerRow * (height - 1) + width * size
        else { return nil }
        let limit = isFullRange ? Self.darkLimit.full : Self.darkLimit.limited
        let (stepX, stepY) = (Self.columns * Self.samplesPerCell, Self.rows * Self.samplesPerCell)
        cells = []
        cells.reserveCapacity(Self.columns * Self.rows)
        var darkCount = 0
        for row in 0..<Self.rows {
            for column in 0..<Self.columns {
                var sum = 0
                for y in 0..<Self.samplesPerCell {
                    let line = (row * Self.samplesPerCell + y) * height / stepY * bytesPerRow
                    for x in 0..<Self.samplesPerCell {
                        let place = line + (column * Self.samplesPerCell + x) * width / stepX * size
                        var value = Int(bytes[place])
                        if size == 2 { value = min(255, (value | Int(bytes[place + 1]) << 8) >> layout.shift) }
                        sum += value
                        if value <= limit { darkCount += 1 }
                    }
                }
                cells.append(UInt8(clamping: sum / (Self.samplesPerCell * Self.samplesPerCell)))
            }
        }
        darkShare = Double(darkCount) / Double(stepX * stepY)
    }

    /// The mean difference between two frames, 0 to 255.
    func difference(from other: LumaGrid) -> Double {
        let sum = zip(cells, other.cells).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(max(1, cells.count))
    }
}

struct SampleLayout: Sendable, Hashable {
    /// 1, or 2 in little-endian order.
    var byteCount = 1
    /// The number of bits below the upper eight.
    var shift = 0

    init() {}

    /// Returns `nil` if the first plane is not luma or has another layout.
    ///
    /// - Parameter name: FFmpeg's name of the pixel format.
    init?(pixelFormat name: String) {
        if name.hasPrefix("p010") || name.hasPrefix("p016") {
            (byteCount, shift) = (2, 8)
            return
        }
        guard ["yuv4", "yuvj4", "nv", "gray"].contains(where: name.hasPrefix), !name.hasSuffix("be") else { return nil }
        for (ending, bits) in [("9le", 1), ("10le", 2), ("12le", 4), ("14le", 6), ("16le", 8)]
        where name.hasSuffix(ending) {
            (byteCount, shift) = (2, bits)
        }
        guard byteCount == 2 || !name.hasSuffix("le") else { return nil }
    }
}

/// Detects black or frozen video. Pass it a frame about once a second of playback.
struct FrameProbe: Sendable {
    /// A frame is black if at least this share of it is dark.
    static let blackShare = 0.98
    static let blackLimit = Duration.seconds(5)
    /// Two frames are the same if they differ by at most this much, of 255. Compression makes even a still image vary a
    /// little.
    static let sameDifference = 0.25
    static let frozenLimit = Duration.seconds(15)

    private var blackSince: Duration?
    private var shown: (grid: LumaGrid, since: Duration)?
    private var last: Duration?

    private(set) var isBlack: Bool?
    private(set) var isFrozen: Bool?

    /// - Parameters:
    ///   - grid: The new frame, or `nil` if the last one is still shown.
    ///   - now: The time played so far.
    mutating func note(_ grid: LumaGrid?, at now: Duration) {
        last = now
        if let grid {
            blackSince = grid.darkShare >= Self.blackShare ? blackSince ?? now : nil
            // Compare with the first frame of the still period, otherwise slow movement would go unnoticed.
            if let shown, shown.grid.difference(from: grid) <= Self.sameDifference {} else { shown = (grid, now) }
        }
        guard let shown else { return }
        isBlack = blackSince.map { now - $0 >= Self.blackLimit } ?? false
        // Report a black frame as black only, not as frozen.
        isFrozen = blackSince == nil && now - shown.since >= Self.frozenLimit
    }
}

struct SilenceProbe: Sendable {
    /// -60 dB of full scale.
    static let peakLimit: Float = 0.001
    static let silentLimit = Duration.seconds(10)
    /// Every fourth sample is enough, because shorter peaks are not audible.
    private static let step = 4

    private var silentSince: Duration?
    private(set) var isSilent: Bool?

    mutating func note(_ samples: [Float], at time: Duration) {
        var peak: Float = 0
        var index = 0
        while index < samples.count {
            // `max` ignores samples that are not a number.
            peak = max(peak, abs(samples[index]))
            index += Self.step
        }
        if peak > Self.peakLimit {
            silentSince = nil
            isSilent = false
        } else {
            let since = min(silentSince ?? time, time)
            silentSince = since
            isSilent = time - since >= Self.silentLimit
        }
    }
}
