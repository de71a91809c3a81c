import HLSKitCore

/// Where an image is in a terminal: in the middle of what lies above the last lines.
struct PreviewLayout: Sendable, Equatable {
    /// Size of a terminal, in characters, and in pixels where it says so (else 0).
    struct Size: Sendable, Equatable {
        var columns: Int
        var rows: Int
        var width = 0
        var height = 0
    }

    /// Lines that are left for what is said and for the status line.
    static let textRowCount = 3
    /// Larger images are of no use, and slow.
    private static let largest = PixelSize(width: 960, height: 540)
    private static let usualCell = PixelSize(width: 9, height: 18)

    let size: Size
    let format: PreviewFormat

    /// Characters for the image.
    var columns: Int { max(1, size.columns) }
    var rows: Int { max(1, size.rows - Self.textRowCount) }

    /// A character in pixels, as far as is known.
    var cell: PixelSize {
        guard size.width >= size.columns, size.height >= size.rows, size.columns > 0, size.rows > 0 else {
            return Self.usualCell
        }
        return PixelSize(width: size.width / size.columns, height: size.height / size.rows)
    }

    /// Into which size an image is made to fit, in its pixels.
    var imageSize: PixelSize {
        switch format {
        case .blocks: PixelSize(width: columns, height: rows * 2)
        case .kitty, .sixel:
            PixelSize(
                width: min(columns * cell.width, Self.largest.width),
                height: min(rows * cell.height, Self.largest.height))
        }
    }

    /// The characters that an image takes, and where the first of them is, counted from 1.
    struct Place: Sendable, Equatable {
        var column: Int
        var row: Int
        var columns: Int
        var rows: Int
    }

    func place(of image: PixelSize) -> Place {
        let (width, height): (Int, Int)
        switch format {
        case .blocks: (width, height) = (image.width, (image.height + 1) / 2)
        case .sixel:
            width = (image.width + cell.width - 1) / max(1, cell.width)
            height = (image.height + cell.height - 1) / max(1, cell.height)
        case .kitty:
            // The terminal makes it as large as there is room.
            let scale = min(
                Double(columns * cell.width) / Double(max(1, image.width)),
                Double(rows * cell.height) / Double(max(1, image.height)))
            width = Int((Double(image.width) * scale / Double(cell.width)).rounded())
            height = Int((Double(image.height) * scale / Double(cell.height)).rounded())
        }
        let (shownColumns, shownRows) = (min(max(1, width), columns), min(max(1, height), rows))
        return Place(
            column: (columns - shownColumns) / 2 + 1, row: (rows - shownRows) / 2 + 1, columns: shownColumns,
            rows: shownRows)
    }
}
