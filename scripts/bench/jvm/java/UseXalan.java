import java.io.StringReader;
import java.io.StringWriter;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** A stylesheet, interpreted and compiled to bytecode. */
public class UseXalan {
    private static final String STYLE = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
            + "<xsl:output method='xml' indent='yes'/><xsl:key name='by' match='e' use='@k'/>"
            + "<xsl:template match='/'><out><xsl:apply-templates select='//e[@k mod 7 = 0]'><xsl:sort select='@v' data-type='number' order='descending'/>"
            + "</xsl:apply-templates><n><xsl:value-of select=\"count(key('by', '3'))\"/></n></out></xsl:template>"
            + "<xsl:template match='e'><xsl:call-template name='deep'><xsl:with-param name='n' select='number(@k) mod 5'/></xsl:call-template></xsl:template>"
            + "<xsl:template name='deep'><xsl:param name='n'/><xsl:choose><xsl:when test='$n &gt; 0'><d n='{$n}'><xsl:call-template name='deep'>"
            + "<xsl:with-param name='n' select='$n - 1'/></xsl:call-template></d></xsl:when><xsl:otherwise><xsl:value-of select=\"translate(@v, '0123', 'abcd')\"/>"
            + "</xsl:otherwise></xsl:choose></xsl:template></xsl:stylesheet>";

    public static void main(String[] arguments) throws Exception {
        StringBuilder document = new StringBuilder("<all>");
        for (int i = 0; i < 800; i++) {
            document.append("<e k='").append(i % 50).append("' v='").append(i * 7919 % 1000).append("'/>");
        }
        document.append("</all>");
        for (String factory : new String[] {
            "org.apache.xalan.processor.TransformerFactoryImpl", "org.apache.xalan.xsltc.trax.TransformerFactoryImpl"
        }) {
            Templates templates = TransformerFactory.newInstance(factory, null)
                    .newTemplates(new StreamSource(new StringReader(STYLE)));
            StringWriter out = new StringWriter();
            templates.newTransformer().transform(new StreamSource(new StringReader(document.toString())), new StreamResult(out));
            System.out.println(out.toString().length() + " " + out.toString().hashCode());
        }
    }
}
