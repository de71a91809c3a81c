import CLibAV
package import HLSKitLoading
package import HLSKitMedia

/// How the pixels of a frame become a picture on a display: which of them are shown, their shape, and the turn.
///
/// The one place where sizes for showing are worked out, of tracks and of frames.
package struct PictureGeometry {
    /// Pixels at the edges that are not shown.
    struct Crop {
        var left = 0
        var top = 0
        var right = 0
        var bottom = 0
    }

    /// No display is so many times as wide as it is high; what claims to be is damaged.
    private static let largestRatio = 16
    private static let longestSide = 32_768

    var width: Int
    var height: Int
    var crop = Crop()
    /// Width and height of a pixel; both above 0.
    var pixelShape = (width: 1, height: 1)
    /// Clockwise, 0 to 3.
    var quarterTurns = 0

    package init(_ track: MediaTrack) {
        (width, height) = (track.width, track.height)
        if let aperture = track.cleanAperture, let crop = Self.crop(aperture, width: width, height: height) {
            self.crop = crop
        }
        if let ratio = track.declaredPixelAspectRatio, ratio.horizontalSpacing > 0, ratio.verticalSpacing > 0 {
            pixelShape = (ratio.horizontalSpacing, ratio.verticalSpacing)
        }
        quarterTurns = Self.quarterTurns(degrees: track.rotation)
    }

    init(_ frame: VideoFrame) {
        (width, height) = (frame.width, frame.height)
        let raw = frame.storage.raw.pointee
        crop = Crop(
            left: Int(clamping: raw.crop_left), top: Int(clamping: raw.crop_top), right: Int(clamping: raw.crop_right),
            bottom: Int(clamping: raw.crop_bottom))
        if let ratio = frame.sampleAspectRatio, ratio.numerator > 0, ratio.denominator > 0 {
            pixelShape = (ratio.numerator, ratio.denominator)
        }
        quarterTurns = Self.quarterTurns(degrees: frame.rotation)
    }

    static func quarterTurns(degrees: Int) -> Int { ((degrees / 90) % 4 + 4) % 4 }

    /// What lies around an aperture; nil if it is not inside the frame.
    static func crop(_ aperture: CleanAperture, width: Int, height: Int) -> Crop? {
        guard width > 0, height > 0, (1...width).contains(aperture.width), (1...height).contains(aperture.height),
            (-width...width).contains(aperture.horizontalOffset), (-height...height).contains(aperture.verticalOffset)
        else { return nil }
        let left = (width - aperture.width) / 2 + aperture.horizontalOffset
        let top = (height - aperture.height) / 2 + aperture.verticalOffset
        let (right, bottom) = (width - left - aperture.width, height - top - aperture.height)
        guard left >= 0, top >= 0, right >= 0, bottom >= 0 else { return nil }
        return Crop(left: left, top: top, right: right, bottom: bottom)
    }

    /// The size of what is shown, not turned. The height stays as it is coded; the width is that of square pixels.
    package func size(in mode: ImageApertureMode = .cleanAperture) -> PixelSize {
        let isCropped = mode == .cleanAperture
        let shown = PixelSize(
            width: isCropped ? width - crop.left - crop.right : width,
            height: isCropped ? height - crop.top - crop.bottom : height)
        guard mode != .encodedPixels, pixelShape.width != pixelShape.height, shown.width > 0, shown.height > 0 else {
            return shown
        }
        let (product, overflow) = shown.width.multipliedReportingOverflow(by: pixelShape.width)
        let (sum, overflow2) = product.addingReportingOverflow(pixelShape.height / 2)
        let stretched = sum / pixelShape.height
        guard !overflow, !overflow2, stretched >= 1, stretched <= Self.longestSide,
            stretched / Self.largestRatio <= shown.height
        else { return shown }
        return PixelSize(width: stretched, height: shown.height)
    }

    /// The size at which to show it.
    package var presentationSize: PixelSize { size().turned(byQuarters: quarterTurns) }
}

extension PixelSize {
    func turned(byQuarters quarters: Int) -> PixelSize {
        quarters % 2 == 0 ? self : PixelSize(width: height, height: width)
    }
}
