extension VideoFrame {
    /// The size at which the picture is to be seen: in square pixels, the height as it is coded.
    public var presentationSize: PixelSize {
        guard let aspect = sampleAspectRatio, aspect.numerator > 0, aspect.denominator > 0 else {
            return PixelSize(width: width, height: height)
        }
        let (product, overflow) = width.multipliedReportingOverflow(by: aspect.numerator)
        guard !overflow else { return PixelSize(width: width, height: height) }
        let (sum, overflow2) = product.addingReportingOverflow(aspect.denominator / 2)
        return PixelSize(width: overflow2 ? width : max(1, sum / aspect.denominator), height: height)
    }
}
